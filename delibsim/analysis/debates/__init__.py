"""Debates: tables of ratings in, tables and figures out."""
