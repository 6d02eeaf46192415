"""Two little languages in which the question 'which noun is meant?' has a right answer."""
