"""Claims of Bubeck, Cherapanamjeri, Gidel and Tachet des Combes."""
