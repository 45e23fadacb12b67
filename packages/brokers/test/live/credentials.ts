// Credentials for a broker's practice account: from the environment, or by logging in with a browser.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { BrokerDefinition, Credentials, OAuthBrokerLogin } from '@trunkline/core/ports/broker'

const COMPLETE_MS = 20_000

export interface CredentialsFrom {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where the broker sends the browser back to: on this machine, and registered at the broker. */
  readonly callbackUrl: string
  readonly print: (text: string) => void
  readonly signal: AbortSignal
}

/** @throws Error saying which variables are missing; LoginRefused, LoginDeclined and BrokerFault as the broker's login does. */
export async function credentialsFor(
  { capabilities: { id }, environment, login }: BrokerDefinition,
  from: CredentialsFrom
): Promise<Credentials> {
  const nameOf = (field: string) => `TRUNKLINE_TEST_${id}_${field.toUpperCase()}`
  const value = (field: string) => from.env[nameOf(field)]?.trim() ?? ''
  if (login.kind === 'api_key') {
    const missing = login.fields.map(({ name }) => name).filter(name => value(name) === '')
    if (missing.length > 0)
      throw new Error(
        `no keys were given. Set ${missing.map(nameOf).join(' and ')} to the API keys of your own ${environment} account; or TRUNKLINE_${id}_CLIENT_ID and its secret, to log in with a browser (docs/guides/brokers.md)`
      )
    const entered = Object.fromEntries(login.fields.map(({ name }) => [name, value(name)]))
    return await login.complete(entered, AbortSignal.timeout(COMPLETE_MS))
  }
  const [accessToken, refreshToken] = [value('access_token'), value('refresh_token')]
  if (accessToken === '') return await loggedIn(login, from)
  return { access_token: accessToken, ...(refreshToken === '' ? {} : { refresh_token: refreshToken }) }
}

/** Prints where to log in, and waits at the callback address for the browser to come back. */
async function loggedIn(login: OAuthBrokerLogin, { callbackUrl: redirectUri, print, signal }: CredentialsFrom): Promise<Credentials> {
  const state = randomBytes(32).toString('base64url')
  const { authorizationUrl, verifier } = await login.begin({ redirectUri, state, trading: true })
  print(`Log in with a browser on this machine:\n  ${authorizationUrl}`)
  const callbackUrl = await cameBack(redirectUri, state, signal)
  return await login.complete({ callbackUrl, redirectUri, state, verifier }, AbortSignal.timeout(COMPLETE_MS))
}

async function cameBack(redirectUri: string, state: string, signal: AbortSignal): Promise<string> {
  const { port, pathname, hostname } = new URL(redirectUri)
  const { promise, resolve } = Promise.withResolvers<string>()
  const server = createServer(({ url = '/' }, response) => {
    const address = new URL(url, redirectUri)
    const isIt = address.pathname === pathname && address.searchParams.get('state') === state
    response.writeHead(isIt ? 200 : 404, { 'content-type': 'text/plain', connection: 'close' })
    response.end(isIt ? 'Back to the terminal.' : 'Nothing here.')
    if (isIt) resolve(address.href)
  })
  server.listen(Number(port === '' ? 80 : port), hostname.replace(/^\[|\]$/g, ''))
  await once(server, 'listening')
  try {
    return await Promise.race([promise, once(server, 'close', { signal }).then(() => Promise.reject(new Error('the login was given up')))])
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
