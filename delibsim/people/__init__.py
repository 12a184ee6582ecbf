"""People in a browser, without pages: rooms, requests, raters, and what people were promised."""
