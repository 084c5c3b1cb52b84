package browser

import "fmt"

// Point is a place in a page, in CSS pixels from its upper left corner.
type Point struct{ X, Y float64 }

func (p *Page) mouse(kind string, at Point, more map[string]any) error {
	params := map[string]any{"type": kind, "x": at.X, "y": at.Y}
	for k, v := range more {
		params[k] = v
	}
	return p.call("Input.dispatchMouseEvent", params, nil)
}

// Move moves the mouse.
func (p *Page) Move(at Point) error { return p.mouse("mouseMoved", at, nil) }

// Click clicks with the left button.
func (p *Page) Click(at Point) error { return p.Drag(at, at, 0) }

// Modifiers of keys that are held down.
const (
	Alt     = 1
	Control = 2
	Shift   = 8
)

// Drag presses the left button at one place and releases it at another, in a few steps.
func (p *Page) Drag(from, to Point, modifiers int) error {
	more := map[string]any{"button": "left", "buttons": 1, "clickCount": 1, "modifiers": modifiers}
	if err := p.mouse("mouseMoved", from, map[string]any{"modifiers": modifiers}); err != nil {
		return err
	}
	if err := p.mouse("mousePressed", from, more); err != nil {
		return err
	}
	const steps = 4
	for i := 1; i <= steps && from != to; i++ {
		share := float64(i) / steps
		at := Point{from.X + share*(to.X-from.X), from.Y + share*(to.Y-from.Y)}
		if err := p.mouse("mouseMoved", at, more); err != nil {
			return err
		}
	}
	more["buttons"] = 0
	return p.mouse("mouseReleased", to, more)
}

// Wheel turns the wheel of the mouse: positive values of dy go down a page.
func (p *Page) Wheel(at Point, dx, dy float64, modifiers int) error {
	return p.mouse("mouseWheel", at, map[string]any{"deltaX": dx, "deltaY": dy, "modifiers": modifiers})
}

// Pinch puts two fingers on the page, moves them in a few steps, and takes them off.
func (p *Page) Pinch(from, to [2]Point) error {
	touch := func(kind string, points ...Point) error {
		list := []map[string]any{}
		for id, at := range points {
			list = append(list, map[string]any{"x": at.X, "y": at.Y, "id": id})
		}
		return p.call("Input.dispatchTouchEvent", map[string]any{"type": kind, "touchPoints": list}, nil)
	}
	if err := touch("touchStart", from[0]); err != nil {
		return err
	}
	if err := touch("touchStart", from[0], from[1]); err != nil {
		return err
	}
	const steps = 4
	for i := 1; i <= steps; i++ {
		share := float64(i) / steps
		var at [2]Point
		for k := range at {
			at[k] = Point{from[k].X + share*(to[k].X-from[k].X), from[k].Y + share*(to[k].Y-from[k].Y)}
		}
		if err := touch("touchMove", at[0], at[1]); err != nil {
			return err
		}
	}
	if err := touch("touchEnd", to[0]); err != nil {
		return err
	}
	return touch("touchEnd")
}

// Grant lets pages of an origin do these things that a person would be asked for, such as "clipboardReadWrite", and
// nothing else of the kind.
func (p *Page) Grant(origin string, permissions ...string) error {
	return p.browser.call("", "Browser.grantPermissions",
		map[string]any{"origin": origin, "permissions": permissions, "browserContextId": p.context}, nil)
}

// Key presses and releases a key, by its name in KeyboardEvent.key: "a", "ArrowLeft", "Enter".
func (p *Page) Key(key string, modifiers int) error {
	down := map[string]any{"type": "rawKeyDown", "key": key, "code": key, "modifiers": modifiers}
	if code, ok := virtualKeys[key]; ok {
		down["windowsVirtualKeyCode"] = code
	}
	if len(key) == 1 {
		down["type"], down["text"] = "keyDown", key
	}
	if key == "Enter" {
		down["type"], down["text"] = "keyDown", "\r"
	}
	if err := p.call("Input.dispatchKeyEvent", down, nil); err != nil {
		return err
	}
	return p.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": key, "modifiers": modifiers}, nil)
}

// virtualKeys are the codes of keys that do more than write a letter.
var virtualKeys = map[string]int{
	"Tab": 9, "Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36,
	"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
}

// Center returns the middle of the first element that a selector finds, scrolled into view.
func (p *Page) Center(selector string) (Point, error) {
	var at *Point
	err := p.Eval(fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		if (!e) return null;
		e.scrollIntoView({block: "nearest", inline: "nearest", behavior: "instant"});
		const r = e.getBoundingClientRect();
		return {X: r.x + r.width / 2, Y: r.y + r.height / 2};
	})()`, selector), &at)
	if err == nil && at == nil {
		err = fmt.Errorf("no element %s", selector)
	}
	if err != nil {
		return Point{}, err
	}
	return *at, nil
}

// ClickOn clicks on the first element that a selector finds.
func (p *Page) ClickOn(selector string) error {
	at, err := p.Center(selector)
	if err != nil {
		return err
	}
	return p.Click(at)
}
