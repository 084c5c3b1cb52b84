package explore

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
)

// refusalStyle is all that the page for those without token may load.
const refusalStyle = "body{font:16px/1.5 system-ui,'DejaVu Sans',sans-serif;max-width:34em;margin:18vh auto;padding:0 1.5em;color-scheme:light dark}" +
	"h1{font-size:1.3em}code{font-family:ui-monospace,'DejaVu Sans Mono',monospace}"

const refusalPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>slackline: the token is missing</title><style>` + refusalStyle + `</style>
<h1>The token is missing or wrong</h1>
<p>This page shows runs to those alone who know its token. Open the address that <code>slackline explore</code> printed
when it started; it ends with <code>?token=</code> and 32 characters.</p>
<p>Each start has a new token: an address of an earlier one no longer works.</p>
</html>
`

// navigates reports whether a request is that of a person who opens a page, not of a script.
func navigates(r *http.Request) bool {
	return !isAPI(r) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// refuse says to a person that the token is missing.
func refuse(w http.ResponseWriter) {
	sum := sha256.Sum256([]byte(refusalStyle))
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; frame-ancestors 'none'")
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusForbidden)
	_, _ = io.WriteString(w, refusalPage) // a client that is gone needs no answer
}
