"""How fast this machine trains: the project's loop beside a plain PyTorch one (`make bench`)."""
