"""Attention-only models on repeating tokens: what came after this one when it stood here before?"""
