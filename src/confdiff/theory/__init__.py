"""The paper's theory in executable form: its bounds as functions, and simulations that test them."""
