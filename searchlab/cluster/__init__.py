"""Clusters: the connection to Dask workers, and what is checked before they are given work."""
