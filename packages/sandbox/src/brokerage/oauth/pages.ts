/** The sandbox's login and consent pages: plain forms without scripts, usable on a phone and with a screen reader. */

import type { Scope } from './scopes.ts'
import { STYLE } from './style.ts'

const ABOUT: { readonly [S in Scope]: string } = {
  read: 'See your accounts, balances, positions, orders and transactions',
  trade: 'Place, modify and cancel orders in your accounts'
}

interface Framed {
  readonly action: string
  /** The application that is registered at the broker. */
  readonly app: string
  /** The redirect address. */
  readonly redirectUri: string
  /** The name of the emulated broker; absent for the sandbox itself. */
  readonly broker?: string
}

export interface LoginPage extends Framed {
  /** The username of the failed attempt just before; null if there was none. */
  readonly wrongUsername: string | null
}

const WRONG = 'The username or the password is wrong. Please try again.'

export function loginPage({ action, app, redirectUri, broker, wrongUsername }: LoginPage): string {
  const alert = wrongUsername === null ? '' : `<p class="problem" role="alert" id="problem">${WRONG}</p>`
  const described = wrongUsername === null ? '' : ' aria-describedby="problem" aria-invalid="true"'
  return page(
    'Log in',
    `<h1>Log in</h1>
<p><strong>${html(app)}</strong> wants to connect to your ${html(broker ?? OWN_NAME)} accounts. Log in to review its request.</p>
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
</form>
${wayBack(app, redirectUri)}`,
    broker
  )
}

export interface ConsentPage extends Framed {
  readonly customer: string
  readonly scopes: readonly Scope[]
  readonly accounts: readonly { readonly name: string; readonly number: string }[]
}

export function consentPage({ action, app, redirectUri, broker, customer, scopes, accounts }: ConsentPage): string {
  const asks = scopes.map(scope => `<li>${html(ABOUT[scope])}</li>`).join('\n')
  const names = accounts
    .map(({ name, number }) => `<li><span>${html(name)}</span> <span class="faint">${html(number)}</span></li>`)
    .join('\n')
  const not = scopes.includes('trade') ? 'It cannot withdraw money.' : 'It cannot trade or withdraw money.'
  return page(
    `Connect ${app}`,
    `<h1>Connect ${html(app)}?</h1>
<p>You are logged in as <strong>${html(customer)}</strong>.</p>
<h2>${html(app)} would like to</h2>
<ul class="asks">
${asks}
</ul>
<h2>For these accounts</h2>
<ul class="accounts">
${names}
</ul>
<p>${not} You can end this access at any time.</p>
<form method="post" action="${html(action)}">
<div class="decision">
<button name="decision" value="approve">Allow</button>
<button name="decision" value="decline" class="quiet">Decline</button>
</div>
</form>
${wayBack(app, redirectUri)}`,
    broker
  )
}

/** Shows the redirect's host, as real brokers do, because another application could use the same name. */
function wayBack(app: string, redirectUri: string): string {
  return `<p class="faint after">Afterwards you return to ${html(app)} at <span class="host">${html(new URL(redirectUri).host)}</span>.</p>`
}

export function errorPage(code: string, detail: string | undefined): string {
  return page(
    'Login failed',
    `<h1>Login failed</h1>
<p>This login cannot continue${detail === undefined ? '' : `: ${html(detail)}`}.</p>
<p>Return to the application that you came from, and start again there.</p>
<p class="faint">Code: ${html(code)}</p>`
  )
}

/** The page at the root. */
export function welcomePage(): string {
  return page(
    'Sandbox brokerage',
    `<h1>Sandbox brokerage</h1>
<p>A brokerage for practice, without real money and real orders. Applications use its API at <code>/api/v1</code>. Users log in here when an application asks them to.</p>`
  )
}

const OWN_NAME = 'Trunkline Sandbox'

function page(title: string, body: string, broker = OWN_NAME): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${html(title)} · ${html(broker)}</title>
<style>${STYLE}</style>
</head>
<body>
<header><strong>${html(broker)}</strong> <span class="tag">sandbox</span></header>
<main>
${body}
</main>
<footer>Practice money only. No order here is real.</footer>
</body>
</html>
`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function html(text: string): string {
  return text.replace(/[&<>"']/g, letter => ENTITIES[letter] ?? letter)
}
