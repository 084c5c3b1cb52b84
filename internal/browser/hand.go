package browser

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Point is a place in a page, in CSS pixels from its upper left corner.
type Point struct{ X, Y float64 }

// toward returns the place at a share of the way to another one.
func (from Point) toward(to Point, share float64) Point {
	return Point{from.X + share*(to.X-from.X), from.Y + share*(to.Y-from.Y)}
}

// steps is how many moves a drag or a pinch consists of.
const steps = 4

// Modifiers of keys that are held down.
const (
	Alt     = kb.ModifierAlt
	Control = kb.ModifierCtrl
	Shift   = kb.ModifierShift
)

func (p *Page) mouse(kind input.DispatchMouseEventType, at Point, more input.DispatchMouseEventParams) error {
	more.Type, more.X, more.Y = kind, at.X, at.Y
	_, err := call(p, input.DispatchMouseEvent, more)
	return err
}

// Move moves the mouse.
func (p *Page) Move(at Point) error {
	return p.mouse(input.DispatchMouseEventTypeMouseMoved, at, input.DispatchMouseEventParams{})
}

// Click clicks with the left button.
func (p *Page) Click(at Point) error { return p.Drag(at, at, 0) }

// Drag presses the left button at one place and releases it at another, in a few steps.
func (p *Page) Drag(from, to Point, modifiers kb.Modifier) error {
	held := input.DispatchMouseEventParams{Modifiers: int64(modifiers)}
	if err := p.mouse(input.DispatchMouseEventTypeMouseMoved, from, held); err != nil {
		return err
	}
	held.Button, held.Buttons, held.ClickCount = input.MouseButtonLeft, 1, 1
	if err := p.mouse(input.DispatchMouseEventTypeMousePressed, from, held); err != nil {
		return err
	}
	for i := 1; i <= steps && from != to; i++ {
		if err := p.mouse(input.DispatchMouseEventTypeMouseMoved, from.toward(to, float64(i)/steps), held); err != nil {
			return err
		}
	}
	held.Buttons = 0
	return p.mouse(input.DispatchMouseEventTypeMouseReleased, to, held)
}

// Wheel turns the wheel of the mouse: positive values of dy go down a page.
func (p *Page) Wheel(at Point, dx, dy float64, modifiers kb.Modifier) error {
	wheel := cdp.Command[map[string]any, cdp.Empty]{Method: input.DispatchMouseEvent.Method} // its own type leaves out a zero
	_, err := call(p, wheel, map[string]any{
		"type": "mouseWheel", "x": at.X, "y": at.Y, "deltaX": dx, "deltaY": dy, "modifiers": int64(modifiers),
	})
	return err
}

// Pinch puts two fingers on the page, moves them in a few steps, and takes them off.
func (p *Page) Pinch(from, to [2]Point) error {
	var failed error
	touch := func(kind input.DispatchTouchEventType, points ...Point) {
		list := []*input.TouchPoint{}
		for i, at := range points {
			id := float64(i)
			list = append(list, &input.TouchPoint{X: at.X, Y: at.Y, ID: &id})
		}
		if failed == nil {
			_, failed = call(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: list})
		}
	}
	touch(input.DispatchTouchEventTypeTouchStart, from[0])
	touch(input.DispatchTouchEventTypeTouchStart, from[0], from[1])
	for i := 1; i <= steps; i++ {
		share := float64(i) / steps
		touch(input.DispatchTouchEventTypeTouchMove, from[0].toward(to[0], share), from[1].toward(to[1], share))
	}
	touch(input.DispatchTouchEventTypeTouchEnd, to[0])
	touch(input.DispatchTouchEventTypeTouchEnd)
	return failed
}

// Grant lets pages of an origin do things that a person would be asked for, by their names in the Permissions API, such
// as "clipboard-read".
func (p *Page) Grant(origin string, permissions ...string) error {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for _, name := range permissions {
		_, err := chromedp.CallBrowser(ctx, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted,
			Origin: origin, BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Key presses and releases a key, by its name in KeyboardEvent.key: "a", "ArrowLeft", "Enter". As of a real key, the letter is not
// written if the page prevents that; chromedp.KeyEvent writes it anyway.
func (p *Page) Key(key string, modifiers kb.Modifier) error {
	letter, ok := keys[key]
	if !ok {
		letter = key
	}
	for _, r := range letter {
		events := kb.Encode(r)
		down, up := events[0], events[len(events)-1]
		down.Modifiers, up.Modifiers = down.Modifiers|int64(modifiers), up.Modifiers|int64(modifiers)
		if written := events[1]; written != up && modifiers&^Shift == 0 {
			down.Text, down.UnmodifiedText = written.Text, written.UnmodifiedText
		}
		for _, event := range []*input.DispatchKeyEventParams{down, up} {
			if _, err := call(p, input.DispatchKeyEvent, *event); err != nil {
				return err
			}
		}
	}
	return nil
}

// keys are the keys that do more than write a letter, as chromedp knows them.
var keys = map[string]string{
	"Tab": kb.Tab, "Enter": kb.Enter, "Escape": kb.Escape, "PageUp": kb.PageUp, "PageDown": kb.PageDown, "End": kb.End,
	"Home": kb.Home, "ArrowLeft": kb.ArrowLeft, "ArrowUp": kb.ArrowUp, "ArrowRight": kb.ArrowRight, "ArrowDown": kb.ArrowDown,
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
	if err != nil {
		return Point{}, err
	}
	if at == nil {
		return Point{}, fmt.Errorf("no element %s", selector)
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
