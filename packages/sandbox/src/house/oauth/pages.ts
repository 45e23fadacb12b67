/** The pages a person meets when linking an account: plain forms, no script, readable on a phone and by a screen reader. */

import type { Scope } from './provider.ts'

const ABOUT: { readonly [S in Scope]: string } = {
  read: 'See your accounts, balances, positions, orders and transactions',
  trade: 'Place, change and cancel orders in your accounts'
}

interface Framed {
  readonly action: string
  readonly app: string
  /** The broker that the brokerage speaks as here; absent: itself. */
  readonly broker?: string
}

export interface LoginPage extends Framed {
  /** The username that was entered with a password that is not its own, just before; null: nothing was. */
  readonly wrongUsername: string | null
}

const WRONG = 'That username and password do not belong together. Please try again.'

export function loginPage({ action, app, broker, wrongUsername }: LoginPage): string {
  const alert = wrongUsername === null ? '' : `<p class="problem" role="alert" id="problem">${WRONG}</p>`
  const described = wrongUsername === null ? '' : ' aria-describedby="problem" aria-invalid="true"'
  return page(
    'Log in',
    `<h1>Log in</h1>
<p><strong>${html(app)}</strong> wants to connect to your brokerage accounts. Log in to see what it asks for.</p>
${alert}
<form method="post" action="${html(action)}">
<label for="username">Username</label>
<input id="username" name="username" value="${html(wrongUsername ?? '')}" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="64"${described}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="128"${described}>
<div class="decision">
<button name="decision" value="approve">Log in</button>
<button name="decision" value="decline" class="quiet">Cancel</button>
</div>
</form>`,
    broker
  )
}

export interface ConsentPage extends Framed {
  readonly person: string
  readonly scopes: readonly Scope[]
  readonly accounts: readonly { readonly name: string; readonly number: string }[]
}

export function consentPage({ action, app, broker, person, scopes, accounts }: ConsentPage): string {
  const asks = scopes.map(scope => `<li>${html(ABOUT[scope])}</li>`).join('\n')
  const names = accounts.map(({ name, number }) => `<li>${html(name)} <span class="faint">${html(number)}</span></li>`).join('\n')
  const not = scopes.includes('trade') ? 'It cannot withdraw money.' : 'It cannot trade and cannot withdraw money.'
  return page(
    `Connect ${app}`,
    `<h1>Connect ${html(app)}?</h1>
<p>You are logged in as <strong>${html(person)}</strong>. <strong>${html(app)}</strong> asks to:</p>
<ul>
${asks}
</ul>
<p>in these accounts:</p>
<ul>
${names}
</ul>
<p>${not} You can end this at any time.</p>
<form method="post" action="${html(action)}">
<div class="decision">
<button name="decision" value="approve">Allow</button>
<button name="decision" value="decline" class="quiet">Decline</button>
</div>
</form>`,
    broker
  )
}

export function errorPage(code: string, detail: string | undefined): string {
  return page(
    'This did not work',
    `<h1>This did not work</h1>
<p>The link that brought you here cannot be used${detail === undefined ? '' : `: ${html(detail)}`}.</p>
<p>Go back to the application you came from and start again.</p>
<p class="faint">Code: ${html(code)}</p>`
  )
}

/** The page at the root, for whoever opens the address in a browser. */
export function welcomePage(): string {
  return page(
    'Sandbox brokerage',
    `<h1>Sandbox brokerage</h1>
<p>A brokerage to practise on: no real money, no real orders. Applications reach it at <code>/api/v1</code>, people log in here when an application asks them to.</p>`
  )
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1b2430; --paper: #fff; --desk: #eef1f5; --faint: #566072; --accent: #0b5d4d; --on-accent: #fff; --line: #7a8496; --bad: #a4161a }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf2; --paper: #1a212b; --desk: #10151c; --faint: #a5b0c0; --accent: #5fd0b4; --on-accent: #06251e; --line: #77839a; --bad: #ff9a94 } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; background: var(--desk); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif }
header { padding: .5rem 1rem; text-align: center; color: var(--faint); font-size: .875rem }
main { max-width: 26rem; margin: 0 auto; padding: 1rem 1.25rem 1.5rem; background: var(--paper) }
@media (min-width: 30rem) { header { padding: 1rem } main { border-radius: .75rem; padding: 2rem } }
h1 { margin: 0 0 .75rem; font-size: 1.4rem; line-height: 1.25 }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600 }
input { width: 100%; padding: .7rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .4rem }
button { width: 100%; padding: .8rem; font: inherit; font-weight: 600; border: 1px solid var(--accent); border-radius: .4rem; background: var(--accent); color: var(--on-accent); cursor: pointer }
button.quiet { background: transparent; color: var(--ink); border-color: var(--line) }
:is(input, button):focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.decision { display: grid; gap: .75rem; margin-top: 1.5rem }
.problem { padding: .6rem .8rem; border-left: 4px solid var(--bad); color: var(--bad) }
.faint { color: var(--faint) }
ul { padding-left: 1.25rem }
li { overflow-wrap: anywhere }
`

function page(title: string, body: string, broker?: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${html(title)} · Sandbox brokerage</title>
<style>${STYLE}</style>
</head>
<body>
<header>Sandbox brokerage${broker === undefined ? '' : `, speaking as ${html(broker)}`} · practice money only</header>
<main>
${body}
</main>
</body>
</html>
`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function html(text: string): string {
  return text.replace(/[&<>"']/g, letter => ENTITIES[letter] ?? letter)
}
