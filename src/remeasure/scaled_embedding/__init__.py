"""An embedding drawn narrow and read multiplied, so that a tied output layer starts small."""
