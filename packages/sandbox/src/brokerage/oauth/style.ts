/** The style of the sandbox's pages. It differs from the portal's, as a broker's would. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#17202b, #e8edf3);
  --paper: light-dark(#fff, #1a212a);
  --ground: light-dark(#eef2f1, #0f1514);
  --faint: light-dark(#566072, #a5b0c0);
  --accent: light-dark(#0b5d4d, #5fd0b4);
  --on-accent: light-dark(#fff, #06251e);
  --line: light-dark(#d5dce4, #36424f);
  --field: light-dark(#76838f, #8795a3);
  --bad: light-dark(#a8321f, #ff9a85);
  --bad-ground: light-dark(#fdf1ee, #35211d);
  --edge: 1.25rem;
}
* { box-sizing: border-box }
html { scroll-padding-block: 1rem 6rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body { margin: 0; min-height: 100dvh; display: flex; flex-direction: column; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif }
header, footer { padding: .875rem var(--edge); text-align: center }
header { display: flex; flex-wrap: wrap; align-items: center; justify-content: center; gap: .25rem .625rem }
.tag { padding: 0 .5rem; border: 1px solid currentcolor; border-radius: 1rem; color: var(--faint); font-size: .75rem; line-height: 1.25rem }
footer { color: var(--faint); font-size: .8125rem }
main { flex: 1; width: 100%; padding: 1.5rem var(--edge) var(--edge); background: var(--paper) }
h1 { margin: 0 0 .5rem; font-size: 1.375rem; line-height: 1.3; letter-spacing: -.01em; overflow-wrap: anywhere }
h2 { margin: 1.25rem 0 .375rem; font-size: .9375rem; font-weight: 600; overflow-wrap: anywhere }
p { margin: 0 0 1rem; overflow-wrap: anywhere }
label { display: block; margin-bottom: .25rem; font-weight: 600 }
input { display: block; width: 100%; min-height: 3rem; margin-bottom: 1rem; padding: .5rem .75rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--field); border-radius: .625rem }
input[aria-invalid] { border: 2px solid var(--bad) }
button { flex: 999 1 9rem; min-height: 3rem; padding: .625rem 1rem; font: inherit; font-weight: 600; border: 1px solid transparent; border-radius: .625rem; background: var(--accent); color: var(--on-accent); white-space: nowrap; cursor: pointer }
button.quiet { flex: 1 0 auto; background: transparent; color: var(--ink); border-color: var(--field) }
button:hover { filter: brightness(.95) }
:is(input, button):focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
form { display: contents }
.decision { position: sticky; bottom: 0; display: flex; flex-wrap: wrap; gap: .5rem; margin: 0 calc(-1 * var(--edge)); padding: .75rem var(--edge); background: var(--paper) }
.problem { padding: .75rem; border-radius: .75rem; background: var(--bad-ground); color: var(--bad) }
.faint { color: var(--faint) }
.after { margin: .5rem 0 0; font-size: .875rem }
.host { overflow-wrap: anywhere }
ul { margin: 0 0 1rem; padding: 0; list-style: none }
li { position: relative; overflow-wrap: anywhere }
.asks li { padding: .125rem 0 .125rem 1.5rem }
.asks li::before { content: "✓" / ""; position: absolute; inset-inline-start: 0; color: var(--accent); font-weight: 700 }
.accounts { border: 1px solid var(--line); border-radius: .75rem }
.accounts li { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; padding: .5rem .75rem; border-top: 1px solid var(--line) }
.accounts li:first-child { border-top: 0 }
.accounts .faint { font-variant-numeric: tabular-nums }
@media (max-height: 26rem) { html { scroll-padding-block-end: 1rem } .decision { position: static } }
@media (min-width: 40rem) {
  :root { --edge: 2rem }
  body { align-items: center; justify-content: center; padding: 1rem }
  main { flex: none; max-width: 30rem; padding-top: 2rem; border: 1px solid var(--line); border-radius: 1rem; box-shadow: 0 1px 2px rgb(0 0 0 / 6%), 0 12px 32px rgb(0 0 0 / 8%) }
}
@media (forced-colors: active) { button { border-color: ButtonText } }
`
