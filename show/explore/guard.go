package explore

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"strings"
)

// newToken returns 128 random bits as text.
func newToken() string {
	var bits [16]byte
	rand.Read(bits[:]) // never fails
	return hex.EncodeToString(bits[:])
}

// guard answers questions only to those who know the token and come from this machine's own pages. The pages themselves,
// which contain nothing of the runs, are for all: they take the token from the address, and send it with each question.
//
// There is no cookie: browsers send those to all ports of a host, also to the server of another user. What a page
// stores belongs to its port.
type guard struct {
	token string
	next  http.Handler
}

// pagePolicy is what pages may do: load and ask for what this server has, and nothing else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-store")
	switch {
	case !ownHost(r) && !isAPI(r) && strings.Contains(r.Header.Get("Accept"), "text/html"):
		h.Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, otherHostPage, ownPort(r))
	case !ownHost(r):
		fail(w, &failure{http.StatusForbidden, Error{Error: otherHost(r), Code: "forbidden"}})
	case !sameOrigin(r):
		fail(w, &failure{http.StatusForbidden, Error{Error: "requests of other pages are refused", Code: "forbidden"}})
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		fail(w, &failure{http.StatusMethodNotAllowed, Error{Error: "there is only GET and HEAD", Code: "method"}})
	case isAPI(r) && !g.equal(r.Header.Get(TokenHeader)):
		fail(w, &failure{http.StatusForbidden, Error{Error: "the token is missing or wrong: open the address that slackline explore printed",
			Code: "forbidden"}})
	default:
		g.next.ServeHTTP(w, r)
	}
}

// equal compares in a time that does not depend on how much of a guess was right.
func (g *guard) equal(given string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(g.token)) == 1
}

// ownHost reports whether the request was made for the loopback address by one of its names, and for our port. A page
// of another name that resolves to 127.0.0.1 has that other name here.
func ownHost(r *http.Request) bool {
	host, port := splitHost(r.Host)
	if host != "127.0.0.1" && host != "localhost" && host != "::1" {
		return false
	}
	if here, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		_, own := splitHost(here.String())
		return port == own
	}
	return true
}

// ownPort is the port that the server listens on.
func ownPort(r *http.Request) string {
	if here, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		_, port := splitHost(here.String())
		return port
	}
	return "8080"
}

// otherHost explains to someone who came by another name or port how to come in: most often the port is forwarded under another number.
func otherHost(r *http.Request) string {
	return fmt.Sprintf("this server answers to localhost:%[1]s only, for safety. If the port is forwarded from another machine, "+
		"use the same number "+
		"on both sides, ssh -L %[1]s:localhost:%[1]s HOST, and open http://localhost:%[1]s with the token that slackline explore printed",
		ownPort(r))
}

// otherHostPage is the same as a page for a browser. Nothing of the request is in it.
const otherHostPage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>slackline explorer: another address</title></head><body>
<h1>The explorer is there, but under another address</h1>
<p>For safety it answers to <b>localhost:%[1]s</b> only, the port that it listens on. If that port is forwarded from another machine,
use the same number on both sides:</p>
<pre>ssh -L %[1]s:localhost:%[1]s HOST</pre>
<p>Then open the address that <code>slackline explore</code> printed; its token is needed, too:</p>
<pre>http://localhost:%[1]s/?token=...</pre>
<p>If that port is taken on this machine, give another one to both: <code>slackline explore --port 9090</code>.</p>
</body></html>
`

// splitHost splits a name and a port; that of HTTP is 80.
func splitHost(host string) (name, port string) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return strings.Trim(host, "[]"), "80"
	}
	return name, port
}

// sameOrigin reports whether a request was made by our own pages, or by a person who opened an address, according to the browser.
// A page may be opened from anywhere, as a link; it still needs the token.
func sameOrigin(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return true
	}
	return !isAPI(r) && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

func isAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }
