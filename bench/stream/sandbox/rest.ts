import type { IncomingMessage } from 'node:http'
import { sandboxNow } from './clock.ts'
import type { SandboxState } from './state.ts'

/** Longer than a measurement takes. */
const TOKEN_SECONDS = 86_400

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The parts of the sandbox's OAuth and REST API that the adapter uses. Each login request gets the next login, without a page. */
export class Rest {
  readonly #state: SandboxState
  readonly #issuer: () => string
  #logins = 0

  constructor(state: SandboxState, issuer: () => string) {
    this.#state = state
    this.#issuer = issuer
  }

  async answer(request: IncomingMessage): Promise<Answer> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://sandbox')
    if (pathname === '/oauth/auth') return this.#authorize(searchParams)
    if (pathname === '/oauth/token') return this.#token(new URLSearchParams(await bodyOf(request)))
    if (pathname === '/oauth/token/revocation') return json(200, '{}')
    const login = loginOf(/^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '')
    return login === null ? fault(401, 'token_invalid') : this.#read(pathname.replace('/api/v1', ''), searchParams, login)
  }

  #authorize(query: URLSearchParams): Answer {
    const back = new URL(query.get('redirect_uri') ?? '')
    back.searchParams.set('code', `code-${this.#logins}`)
    back.searchParams.set('state', query.get('state') ?? '')
    back.searchParams.set('iss', this.#issuer())
    this.#logins += 1
    return { status: 303, headers: { location: back.href }, body: '' }
  }

  #token(form: URLSearchParams): Answer {
    const login = (form.get('code') ?? form.get('refresh_token') ?? '').replace(/^\w+-/, '')
    const granted = { token_type: 'Bearer', expires_in: TOKEN_SECONDS, scope: 'read trade' }
    return json(200, JSON.stringify({ access_token: tokenOf(Number(login)), refresh_token: `refresh-${login}`, ...granted }))
  }

  #read(path: string, query: URLSearchParams, login: number): Answer {
    const account = query.get('account') ?? ''
    switch (path) {
      case '/accounts':
        return list(this.#state.accountsOf(login).map(id => JSON.stringify(this.#state.account(id))))
      case '/balances':
        return list([JSON.stringify(this.#state.balance(account))])
      case '/positions':
        return list(this.#state.positions(account).map(position => JSON.stringify(position)))
      case '/orders':
        return list(this.#state.orders(account))
      case '/transactions':
        return list([])
    }
    if (!path.startsWith('/orders/')) return fault(404, 'unknown_route')
    const order = this.#state.order(decodeURIComponent(path.slice('/orders/'.length)))
    return order === null ? fault(404, 'unknown_order') : asOf(200, `"order":${order}`)
  }
}

/** Access tokens contain their login, so that none need be stored. */
export function tokenOf(login: number): string {
  return `access-${login}`
}

/** Null if this sandbox did not issue it. */
export function loginOf(token: string): number | null {
  const [, number] = /^access-(\d+)$/.exec(token) ?? []
  return number === undefined ? null : Number(number)
}

function list(items: readonly string[]): Answer {
  return asOf(200, `"items":[${items.join(',')}],"next":null`)
}

function fault(status: number, code: string): Answer {
  return asOf(status, `"error":{"code":"${code}","message":"The test sandbox has no other answer.","field":null}`)
}

function asOf(status: number, fields: string): Answer {
  const now = sandboxNow()
  return json(status, `{"as_of":"${now}","sandbox_time":"${now}",${fields}}`)
}

function json(status: number, body: string): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body
}
