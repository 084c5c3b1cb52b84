package cli

// Registry has all verbs.
var Registry = registry

// UpdatePages is the flag that writes generated pages anew.
var UpdatePages = updatePages
