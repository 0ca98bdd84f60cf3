"""Features of zonal kernels: Gegenbauer polynomials, random directions and exact harmonics."""

from .gegenbauer import GegenbauerFeatures

__all__ = ["GegenbauerFeatures"]
