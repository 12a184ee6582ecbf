"""Texts by which somebody could try to command whoever shows them."""

EVIL = (
    "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
    " [a](javascript:alert(1)) ]]> {{ 7*7 }} {% include 'x' %} \u202egpj.exe\u202c \x1b[31mred"
    ' =HYPERLINK("http://evil.example") </pre></article></main>'
)
PERSONA = "You are a retired lamplighter from the harbour quarter."
