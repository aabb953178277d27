"""Linear models of pairs: their matrices, objectives, solver and the choice of the penalty."""
