package scaling

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

type tokenKind int

const (
	endToken tokenKind = iota
	nameToken
	numberToken
	signToken
	badToken
)

// token is a word of an expression.
type token struct {
	kind tokenKind
	text string
	at   int // where the search for it began
}

// peek returns the next token without taking it.
func (p *expressionParser) peek() token {
	back := p.at
	t := p.next()
	p.at = back
	return t
}

// take takes the next token if it is the sign given.
func (p *expressionParser) take(sign string) bool {
	if t := p.peek(); t.kind == signToken && t.text == sign {
		p.next()
		return true
	}
	return false
}

// next takes the next token.
func (p *expressionParser) next() token {
	begin := p.at
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	if p.at == len(p.text) {
		return token{kind: endToken, at: begin}
	}
	rest := p.text[p.at:]
	length, kind := 0, badToken
	switch c := rest[0]; {
	case isLetter(c):
		kind = nameToken
		for length < len(rest) && (isLetter(rest[length]) || isDigit(rest[length])) {
			length++
		}
	case isDigit(c):
		kind = numberToken
		length = digits(rest)
		if length+1 < len(rest) && rest[length] == '.' && isDigit(rest[length+1]) {
			length += 1 + digits(rest[length+1:])
		}
	case strings.IndexByte("()+*/^-", c) >= 0:
		kind, length = signToken, 1
	case strings.HasPrefix(rest, "Θ"), strings.HasPrefix(rest, "√"):
		kind = nameToken
		_, length = utf8.DecodeRuneInString(rest)
	default:
		_, length = utf8.DecodeRuneInString(rest)
	}
	p.at += length
	return token{kind, rest[:length], begin}
}

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

// expected is the error for what is not expected where the parser is.
func (p *expressionParser) expected(what string) error {
	t := p.peek()
	if t.kind == endToken {
		return fmt.Errorf("ends where %s is expected", what)
	}
	if t.text == "+" && p.depth > 0 {
		return fmt.Errorf("has a sum inside a product; multiply it out, e.g. p*(n + 1) as p*n + p")
	}
	return fmt.Errorf("has %q where %s is expected", t.text, what)
}

// parseNumber returns a decimal number exactly.
func parseNumber(text string) (Rat, error) {
	whole, decimals, _ := strings.Cut(text, ".")
	decimals = strings.TrimRight(decimals, "0")
	if len(decimals) > 6 || len(strings.TrimLeft(whole, "0"))+len(decimals) > 9 {
		return Rat{}, fmt.Errorf("the number %s is too long; give at most 9 digits, 6 of them after the point", text)
	}
	num, err := strconv.ParseInt(whole+decimals, 10, 64)
	if err != nil {
		return Rat{}, err
	}
	den := int64(1)
	for range decimals {
		den *= 10
	}
	return newRat(num, den), nil
}
