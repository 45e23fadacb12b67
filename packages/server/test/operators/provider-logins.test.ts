// A login by the provider, from the page's first request to the session, at two nodes over one store: once, and in the
// browser that began it.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import cookies from '@fastify/cookie'
import type { RefusedAccess } from '@trunkline/core/app/access-audit'
import { LocalBus } from '@trunkline/core/app/local-bus'
import { LOGIN_MS } from '@trunkline/core/app/operators/provider-login'
import { ServiceError } from '@trunkline/core/domain/errors'
import { Malformed } from '@trunkline/core/domain/malformed'
import { CLIENT, TestLoginProvider } from '@trunkline/testkit/login-provider'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { withMethods } from '@trunkline/testkit/with-methods'
import Fastify, { type FastifyInstance } from 'fastify'
import { makeLink } from '../../src/admin/operators.ts'
import { CALLBACK_PATH } from '../../src/oidc/options.ts'
import { LoginProvider } from '../../src/oidc/provider.ts'
import { OperatorAccess } from '../../src/operators/access.ts'
import { waysIn } from '../../src/operators/attempts.ts'
import { OperatorCookie } from '../../src/operators/cookie.ts'
import { PendingLoginCookie } from '../../src/operators/pending-login.ts'
import { ProviderLogins } from '../../src/operators/provider-logins.ts'
import { RandomIds } from '../../src/ops/ids.ts'
import { openStore, type SqlStore } from '../../src/store/index.ts'
import { EnvelopeVault } from '../../src/vault/envelope.ts'
import { Sha256Hasher } from '../../src/vault/hasher.ts'
import { providerClock } from '../oidc/clock.ts'
import { testDeps } from '../store/deps.ts'
import { copyStore } from '../store/template.ts'
import { key, ring } from '../vault/rings.ts'

const PUBLIC_URL = 'http://127.0.0.1:8080'
const CALLBACK = `${PUBLIC_URL}${CALLBACK_PATH}`
const OWN = { origin: PUBLIC_URL, 'x-trunkline-operator': '1' }

const ids = new RandomIds()
const hasher = new Sha256Hasher(randomBytes(32))
const master = key('k1')

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** A browser with its cookies, whose requests may reach any node. */
class Browser {
  readonly cookies = new Map<string, string>()

  async post(node: FastifyInstance, url: string, text: string, headers: Readonly<Record<string, string>> = OWN): Promise<Answer> {
    const sent = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await node.inject({ method: 'POST', url, payload: { text }, headers: { ...headers, cookie: sent } })
    for (const { name, value, maxAge } of response.cookies) {
      if (maxAge === 0) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return { status: response.statusCode, body: response.json() }
  }
}

describe('a login by the provider', () => {
  let kit: TestLoginProvider
  let store: SqlStore
  let directory: string
  let clock: VirtualClock
  let noted: RefusedAccess[]
  let logged: string[]
  let exchanged: number
  const bus = new LocalBus({ debug() {}, info() {}, warn() {}, error() {} })
  const closing: (() => Promise<void>)[] = []

  before(async () => {
    kit = await TestLoginProvider.start()
    directory = mkdtempSync(join(tmpdir(), 'trunkline-logins-'))
    const dataDir = join(directory, 'data')
    await copyStore(dataDir)
    store = await openStore({ kind: 'embedded', dataDir }, testDeps())
  })
  after(async () => {
    for (const close of closing) await close()
    await kit[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
    rmSync(directory, { recursive: true, force: true })
  })
  beforeEach(() => {
    clock = new VirtualClock()
    noted = []
    logged = []
    exchanged = 0
    kit.identity = { sub: 'ada', email: 'ada@example.com', email_verified: true, groups: ['traders'] }
    kit.twists.clear()
  })

  /** A node with the operations' parts that are about logins. */
  async function node(issuer = kit.issuer): Promise<FastifyInstance> {
    const http = Fastify()
    await http.register(cookies)
    const publicUrl = () => PUBLIC_URL
    const attempts = waysIn(() => clock.monotonicMs(), bus)
    const operators = withMethods(store.operators, {
      exchange: (...given: Parameters<typeof store.operators.exchange>) => {
        exchanged += 1
        return store.operators.exchange(...given)
      }
    })
    const access = new OperatorAccess(
      { operators, attempts, hasher, ids, clock },
      { publicUrl, cookie: new OperatorCookie(publicUrl), accessAudit: { note: refused => void noted.push(refused) } }
    )
    const log = (message: string, facts?: object) => void logged.push(`${message} ${JSON.stringify(facts)}`)
    const options = { issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret, request: 'openid email groups', requestMs: PATIENCE_MS }
    const provider = new LoginProvider({ ...options, operatorClaim: 'email', grantClaim: 'groups' }, providerClock(clock))
    const logins = new ProviderLogins({
      ...{ provider, name: 'Our company', publicUrl, access, attempts: attempts.provider, operators, hasher, ids },
      grants: [{ value: 'traders', scopes: ['read', 'manage'] }],
      pending: new PendingLoginCookie(new OperatorCookie(publicUrl, 'login'), { vault: new EnvelopeVault(ring(master)), clock }),
      log: { debug: log, info: log, warn: log, error: log }
    })
    http.setErrorHandler((error, _request, reply) => {
      const code = error instanceof ServiceError ? error.code : error instanceof Malformed ? 'field_invalid' : 'internal'
      return reply.code(400).send({ code, message: error instanceof Error ? error.message : '' })
    })
    http.post<{ Body: { text: string } }>('/begin', async (request, reply) => ({
      url: await logins.begin(request, reply, request.body.text)
    }))
    http.post<{ Body: { text: string } }>('/enter', async (request, reply) => access.enter(request, reply, request.body.text))
    http.post<{ Body: { text: string } }>('/complete', async (request, reply) => logins.complete(request, reply, request.body.text))
    closing.push(async () => {
      await http.close()
      await provider[Symbol.asyncDispose]()
    })
    return http
  }

  const begun = async (browser: Browser, at: FastifyInstance, page = '/console/orders?user=007'): Promise<string> => {
    const { status, body } = await browser.post(at, '/begin', page)
    assert.equal(status, 200, JSON.stringify(body))
    return String(body.url)
  }
  /** What the provider sends the browser back with, at the registered address. */
  const answerTo = async (url: string): Promise<string> => {
    const back = new URL(await kit.logIn(url))
    assert.equal(`${back.origin}${back.pathname}`, CALLBACK)
    return back.search
  }
  /** As the command line makes it, in a service that runs. */
  const madeCode = async (): Promise<string> => {
    const run = { by: 'ada@host', signal: new AbortController().signal, progress() {} }
    return (await makeLink({ store, ids, clock, hasher, bus, publicUrl: null }, { scopes: ['read'] }, run)).code
  }
  const sessions = () => store.operators.sessions(1_800_000, 1_000)

  test('begun at one node and completed at another, it becomes a session with the scopes of the grants [S88]', async () => {
    const [first, second] = [await node(), await node()]
    const browser = new Browser()
    const { status, body } = await browser.post(second, '/complete', await answerTo(await begun(browser, first)))
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body.returnTo, '/console/orders?user=007')
    const [made] = await sessions()
    assert.deepEqual(
      [made?.operator, made?.scopes, made?.origin],
      [`ada@example.com (${new URL(kit.issuer).host})`, ['read', 'manage'], 'oidc']
    )
    assert.deepEqual([...browser.cookies.keys()], ['trunkline-operator-8080'])
    while ((await store.audit.seal(100)) > 0);
    const entries = await store.audit.list(10)
    const login = entries.find(({ action }) => action === 'operator.login')
    assert.deepEqual([login?.detail.by, login?.detail.subject, login?.detail.origin], [made?.operator, 'ada', 'oidc'])
  })

  test('completed twice, by two nodes at once, it becomes one session [S88]', async () => {
    const nodes = [await node(), await node()]
    const browser = new Browser()
    const answer = await answerTo(await begun(browser, await node()))
    const known = (await sessions()).length
    const twins = nodes.map(at => {
      const twin = new Browser()
      for (const [name, value] of browser.cookies) twin.cookies.set(name, value)
      return twin.post(at, '/complete', answer)
    })
    const codes = (await Promise.all(twins)).map(({ body }) => body.code ?? 'ok').sort()
    assert.deepEqual(codes, ['credentials_invalid', 'ok'])
    assert.equal((await sessions()).length, known + 1)
    assert.match(String((await browser.post(await node(), '/complete', answer)).body.message), /completed already/)
  })

  test('another browser cannot complete it: neither one without a login, nor one with a login of its own [S88]', async () => {
    const at = await node()
    const [victim, attacker] = [new Browser(), new Browser()]
    const answer = await answerTo(await begun(attacker, at))
    assert.match(String((await victim.post(at, '/complete', answer)).body.message), /not begun in this browser/)
    const own = await begun(victim, at)
    assert.equal((await victim.post(at, '/complete', answer)).body.code, 'credentials_invalid')
    // The link of somebody else did not end the victim's own login.
    assert.equal((await victim.post(at, '/complete', await answerTo(own))).status, 200)
    assert.deepEqual(
      noted.map(({ action, reason, target, actor }) => [action, reason, target, actor]),
      [1, 2].map(() => ['access.failed', 'credentials_invalid', 'admin', 'anonymous'])
    )
  })

  test('a cookie that another page planted beside its own ends no login [S88]', async () => {
    const at = await node()
    const [browser, attacker] = [new Browser(), new Browser()]
    const answer = await answerTo(await begun(browser, at))
    await begun(attacker, at)
    const [own, planted] = [browser, attacker].map(({ cookies }) => cookies.get('trunkline-login-8080'))
    for (const first of ['AAAA', planted]) {
      browser.cookies.set('trunkline-login-8080', `${first}; trunkline-login-8080=${own}`)
      assert.match(String((await browser.post(at, '/complete', '?code=x&state=other')).body.message), /not begun in this browser/)
    }
    assert.equal((await browser.post(at, '/complete', answer)).status, 200)
  })

  test('a page of another site can neither begin nor complete one [S86]', async () => {
    const at = await node()
    const browser = new Browser()
    const answer = await answerTo(await begun(browser, at))
    for (const headers of [{}, { ...OWN, origin: 'https://evil.example' }, { origin: PUBLIC_URL }]) {
      assert.equal((await browser.post(at, '/begin', '/console/', headers)).body.code, 'header_invalid')
      assert.equal((await browser.post(at, '/complete', answer, headers)).body.code, 'header_invalid')
    }
  })

  test('it does not replace a session, at its beginning or at its end [S92]', async () => {
    const at = await node()
    const browser = new Browser()
    const early = await begun(browser, at)
    const pending = browser.cookies.get('trunkline-login-8080') ?? ''
    assert.equal((await browser.post(at, '/complete', await answerTo(early))).status, 200)
    const cookie = browser.cookies.get('trunkline-operator-8080')
    kit.identity = { ...kit.identity, sub: 'eve', email: 'eve@example.com' }
    assert.equal((await browser.post(at, '/begin', '/console/')).body.code, 'session_exists')
    browser.cookies.set('trunkline-login-8080', pending)
    const { code, message } = (await browser.post(at, '/complete', '?code=x&state=x')).body
    assert.equal(code, 'session_exists')
    assert.match(String(message), /logged in as ada@example\.com .* already/)
    assert.equal(browser.cookies.get('trunkline-operator-8080'), cookie)
    // One that has ended is in nobody's way.
    browser.cookies.set('trunkline-operator-8080', 'os_gone')
    await begun(browser, at)
    assert.ok(!browser.cookies.has('trunkline-operator-8080'))
  })

  test('it ends after ten minutes, and a cookie that was changed or made elsewhere is none', async () => {
    const at = await node()
    const browser = new Browser()
    const url = await begun(browser, at)
    const sealed = browser.cookies.get('trunkline-login-8080') ?? ''
    const answer = await answerTo(url)
    const complete = async () => String((await browser.post(at, '/complete', answer)).body.message)
    for (const changed of [`${sealed.slice(0, -2)}AA`, 'AAAA', 'x'.repeat(5_000), '']) {
      browser.cookies.set('trunkline-login-8080', changed)
      assert.match(await complete(), /not begun in this browser/)
    }
    browser.cookies.set('trunkline-login-8080', sealed)
    await clock.advance(LOGIN_MS)
    assert.match(String((await browser.post(at, '/complete', answer)).body.message), /more than ten minutes ago/)
    assert.ok(!/code_verifier|nonce|state/.test(Buffer.from(sealed, 'base64url').toString('latin1')), 'it is encrypted')
  })

  test('a refusal for want of a grant says whom and what to ask, and is noted [S93]', async () => {
    const at = await node()
    const known = (await sessions()).length
    for (const groups of [['Other'], ['Traders'], [' traders'], [], undefined, 'traders,x']) {
      kit.identity = { ...kit.identity, groups }
      const browser = new Browser()
      const { body } = await browser.post(at, '/complete', await answerTo(await begun(browser, at)))
      assert.equal(body.code, 'scope_missing')
      assert.match(String(body.message), /knows you as "ada@example\.com", but no scope .* Ask the administrator .*TRUNKLINE_OIDC_GRANTS/)
    }
    assert.equal((await sessions()).length, known)
    assert.deepEqual(
      noted.map(({ action, reason }) => [action, reason]),
      Array.from({ length: 6 }, () => ['access.denied', 'scope_missing'])
    )
  })

  test('it leads to a page of the console and nowhere else [S94]', async () => {
    const at = await node()
    for (const page of [
      'https://evil.example/console/',
      '//evil.example/console/',
      '/\\evil.example/console/',
      '\\\\evil.example/console/',
      '/console/../admin',
      '/console/%2e%2e/admin',
      '/consolex',
      '/',
      '',
      'javascript:alert(1)',
      '/\t/evil.example/console/',
      '/console/\t/x',
      '/console/\n/evil.example',
      '/console/\\evil.example',
      ' /console/',
      `${PUBLIC_URL}/console/`,
      '/console/../console/orders',
      '/console/a b'
    ])
      assert.equal((await new Browser().post(at, '/begin', page)).body.code, 'field_invalid', page)
    const browser = new Browser()
    const url = await begun(browser, at, '/console/orders/x?q=//evil.example#fragment')
    assert.equal((await browser.post(at, '/complete', await answerTo(url))).body.returnTo, '/console/orders/x?q=//evil.example')
  })

  test('an address that fails again and again has to wait, before anything is sent to the provider', async () => {
    const at = await node()
    const browser = new Browser()
    const codes = []
    for (let tries = 0; tries < 22; tries++) codes.push((await browser.post(at, '/complete', '?code=x&state=x')).body.code)
    assert.deepEqual(codes.slice(0, 19), Array(19).fill('credentials_invalid'))
    assert.deepEqual(codes.slice(-2), ['rate_limited', 'rate_limited'])
    assert.equal(noted.length, 20)
    const code = await madeCode()
    assert.equal((await new Browser().post(at, '/enter', code)).status, 200, 'a code of the same address is another way in')
  })

  test('wrong codes of others at an address keep no code out that was just made, and are looked up 300 times', async () => {
    const at = await node()
    const codes = new Map<unknown, number>()
    for (let tries = 0; tries < 320; tries++) {
      const { body } = await new Browser().post(at, '/enter', `oc_${tries}`)
      codes.set(body.code, (codes.get(body.code) ?? 0) + 1)
    }
    assert.deepEqual([exchanged <= 301, [...codes.keys()]], [true, ['credentials_invalid', 'rate_limited']])
    const code = await madeCode()
    const entered = await new Browser().post(at, '/enter', code)
    assert.equal(entered.status, 200, JSON.stringify(entered.body))
    const again = await new Browser().post(at, '/enter', code)
    assert.equal(again.body.code, 'rate_limited', 'a code that was used is a wrong one')
  })

  test('a provider that is down is said to be, in the answer and in the log; codes need none', async () => {
    const at = await node('http://127.0.0.1:9')
    const { body } = await new Browser().post(at, '/begin', '/console/')
    assert.equal(body.code, 'login_provider_unavailable')
    assert.match(String(body.message), /^127\.0\.0\.1:9 did not answer \(ECONNREFUSED\)\. Nobody was logged in\. .*operator link$/)
    assert.match(logged.join(), /cannot be used .*ECONNREFUSED/)
  })

  test('neither the code nor a secret of the login is logged, whatever goes wrong [S80]', async () => {
    const at = await node()
    const browser = new Browser()
    const answer = await answerTo(await begun(browser, at))
    kit.twists.set('token', () => ({ error: 'invalid_grant', error_description: 'canary-description', id_token: 'canary-token' }))
    const { body } = await browser.post(at, '/complete', answer)
    const code = new URLSearchParams(answer).get('code') ?? 'none'
    const text = `${JSON.stringify(body)} ${logged.join()} ${JSON.stringify(noted)}`
    for (const secret of [code, CLIENT.secret, 'canary']) assert.ok(!text.includes(secret))
  })
})
