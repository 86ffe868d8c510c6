import unicodedata

text = 'Zoë'
print(text, len(text), unicodedata.normalize('NFD', text) == text, unicodedata.name('ë'))
print('straße'.upper(), 'ÄÖ'.lower(), 'a\u0301', sorted('zäa'), '日本'[1])
