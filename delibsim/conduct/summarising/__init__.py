"""Having opinions summarised: what is planned, asked, estimated, replayed."""
