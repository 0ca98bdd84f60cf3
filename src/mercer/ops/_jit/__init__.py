"""The numba twins. Import a module of this folder where it is used: importing numba costs time.

Every function here has a NumPy (or Array API) twin in ``mercer.ops`` that serves as its
oracle. All release the GIL and none starts threads: the engine does.
"""
