"""The paper's theory as things one can run: its bounds as functions, and simulations that hold them against truth."""
