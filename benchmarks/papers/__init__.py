"""Figures and tables of papers, measured again with mercer's feature maps."""
