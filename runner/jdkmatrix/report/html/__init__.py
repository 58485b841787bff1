"""How a page is put together safely, and the page of the method."""
