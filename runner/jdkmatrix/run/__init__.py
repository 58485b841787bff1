"""A run: plan the forks of a selection of cells, get every part ready, measure block after block, keep it all."""
