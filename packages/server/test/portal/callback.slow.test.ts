// S1 to S9: the broker's answer counts once, in the browser that asked, at the broker's own address, and nothing else counts at all.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { STATE_MINUTES } from '@trunkline/core/app/connect/complete-login'
import type { BrokerId } from '@trunkline/core/domain/ids'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { type AttemptStore, CommitUnknown, type ConnectionStore, type Store, StoreUnavailable } from '@trunkline/core/ports/store'
import { until } from '@trunkline/testkit/until'
import { withMethods } from '@trunkline/testkit/with-methods'
import { type Answer, Browser, openScene, type Scene } from './support.ts'

describe('the broker’s answer', () => {
  let scene: Scene
  /** What the store does otherwise than it should. */
  let attempts: Partial<AttemptStore> = {}
  let connections: Partial<ConnectionStore> = {}
  before(async () => {
    scene = await openScene({
      store: real => ({
        ...real,
        attempts: lazily(real.attempts, () => attempts),
        connections: lazily(real.connections, () => connections)
      }),
      // The same broker once more, to try one's answer at the other's address.
      brokers: real => new Map([...real, ...[...real.values()].slice(0, 1).map(definition => ['OTHER' as BrokerId, definition] as const)])
    })
  })
  after(() => scene[Symbol.asyncDispose]())

  const refused = (answer: Answer, heading = 'This login is not the current one') => {
    assert.equal(answer.status, 400)
    assert.equal(answer.location, '')
    assert.ok(answer.html.includes(`<h1>${heading}</h1>`), answer.html)
  }

  test('an unknown state: no token is requested, and the audit log has an entry [S1]', async () => {
    const before = await scene.requested('token')
    const answer = await new Browser().get(`${scene.url}/connect/callback/sandbox?code=x&state=${'a'.repeat(43)}`)
    refused(answer)
    assert.equal(await scene.requested('token'), before)
    const refusals = async () => (await scene.store.audit.list(50)).filter(({ action }) => action === 'connection.callback')
    await until(async () => (await refusals()).length > 0, 'the refusal is on the audit log')
    const [entry] = await refusals()
    assert.deepEqual(
      [entry?.actor, entry?.target, entry?.result, entry?.requestId],
      ['anonymous', 'SANDBOX', 'refused', answer.headers.get('x-request-id')]
    )
    assert.deepEqual(entry?.detail, { reason: 'bad_callback', from: '127.0.0.1', times: 1 })
    for (let again = 0; again < 3; again++) refused(await new Browser().get(`${scene.url}/connect/callback/sandbox?code=x&state=y`))
    assert.equal((await refusals()).length, 1, 'the others of the minute are one entry with their number')
  })

  test('a used state: the first use stands, and its browser is redirected to the same place [S2]', async () => {
    const browser = new Browser()
    const callback = await browser.logIn(await browser.approve(await scene.link('s2')), scene.demo)
    assert.equal((await fetch(callback, { method: 'HEAD', redirect: 'manual' })).status, 404, 'looking completes nothing')
    assert.equal((await browser.get(callback)).location, `${scene.url}/connect/result/connected`)
    const requested = await scene.requested('token')
    const again = await browser.get(callback)
    refused(again, 'Your account is connected')
    assert.match(again.html, /<meta http-equiv="refresh" content="0;url=\/connect\/result\/connected">/)
    refused(await browser.get(`${callback}&more=1`))
    refused(await new Browser().get(callback))
    assert.equal(await scene.requested('token'), requested)
    assert.equal(await scene.requested('revoke'), 0)
    assert.equal(await scene.connections('s2'), 1)
  })

  test('two callbacks at the same time: only one counts [S2]', async () => {
    const browser = new Browser()
    const callback = await browser.logIn(await browser.approve(await scene.link('s2b')), scene.demo)
    const answers = await Promise.all([browser.get(callback), browser.get(callback)])
    assert.equal(answers.filter(({ location }) => location.endsWith('/result/connected')).length, 1)
    assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 400])
    assert.equal(await scene.connections('s2b'), 1)
  })

  test('after the link has expired: the page says so, and no token is requested [S3]', async () => {
    const browser = new Browser()
    const callback = await browser.logIn(await browser.approve(await scene.link('s3')), scene.demo)
    const requested = await scene.requested('token')
    attempts = {
      findByStateHash: async hash => {
        const found = await scene.store.attempts.findByStateHash(hash)
        return found === null ? null : { ...found, attempt: { ...found.attempt, expiresAt: found.attempt.createdAt } }
      }
    }
    const answer = await browser.get(callback)
    attempts = {}
    assert.equal(answer.location, `${scene.url}/connect/result/expired`)
    assert.equal((await browser.get(answer.location)).status, 400)
    assert.equal(await scene.requested('token'), requested)
    assert.equal(await scene.connections('s3'), 0)
  })

  test('a state after ten minutes: expired, no token is requested, and the same link can start again [S3]', async () => {
    const browser = new Browser()
    const link = await scene.link('s3-late')
    const callback = await browser.logIn(await browser.approve(link), scene.demo)
    const requested = await scene.requested('token')
    attempts = {
      findByStateHash: async hash => {
        const found = await scene.store.attempts.findByStateHash(hash)
        const madeAt = found?.stateMadeAt ?? null
        return found === null || madeAt === null ? null : { ...found, stateMadeAt: timestampOfMs(epochMs(madeAt) - STATE_MINUTES * 60_000) }
      }
    }
    const answer = await browser.get(callback)
    attempts = {}
    assert.equal(answer.location, `${scene.url}/connect/result/expired`)
    assert.equal((await browser.get(answer.location)).status, 400)
    refused(await browser.get(callback), 'This link has expired')
    assert.equal(await scene.requested('token'), requested)
    const again = await browser.get(await browser.logIn(await browser.approve(link), scene.demo))
    assert.equal(again.location, `${scene.url}/connect/result/connected`)
  })

  test('a user who is deleted during the login goes back to the platform with an error, in the browser that began; others stay here', async () => {
    const body = { redirect_url: 'https://app.example.com/linked', redirect_on_error_url: 'https://app.example.com/failed?of=s2' }
    const browser = new Browser()
    const callback = await browser.logIn(await browser.approve(await scene.link('gone', body)), scene.demo)
    const here = new Browser()
    const withoutTarget = await here.logIn(await here.approve(await scene.link('gone-too')), scene.demo)
    const kept = new Browser()
    const ofKept = await kept.logIn(await kept.approve(await scene.link('kept', body)), scene.demo)
    await kept.get(ofKept)
    for (const user of ['gone', 'gone-too'])
      assert.equal((await fetch(`${scene.url}/users/${user}`, { method: 'DELETE', headers: scene.as(user) })).status, 200)
    const requested = await scene.requested('token')
    refused(await new Browser().get(callback))
    refused(await here.get(callback))
    refused(await kept.get(`${ofKept}&more=1`), 'This login is not the current one')
    refused(await browser.get(callback.replace(/state=[^&]*/, `state=${'a'.repeat(43)}`)))
    const { status, location } = await browser.get(callback)
    const back = new URL(location)
    assert.deepEqual([status, `${back.origin}${back.pathname}`, back.searchParams.get('of')], [303, 'https://app.example.com/failed', 's2'])
    assert.deepEqual([back.searchParams.get('error'), back.searchParams.get('connection_id')], ['400', null])
    assert.match(back.searchParams.get('error_details') ?? '', /user was deleted/)
    assert.equal((await here.get(withoutTarget)).location, `${scene.url}/connect/result/user_removed`)
    assert.equal(await scene.requested('token'), requested)
  })

  test('two tabs on one link: the login that was started last counts, and the other page says so', async () => {
    const browser = new Browser()
    const link = await scene.link('two-tabs')
    const first = await browser.logIn(await browser.approve(link), scene.demo)
    const second = await browser.logIn(await browser.approve(link), scene.demo)
    const requested = await scene.requested('token')
    const overtaken = await browser.get(first)
    refused(overtaken)
    assert.match(overtaken.html, /You may have started again in another tab/)
    assert.equal(await scene.requested('token'), requested)
    assert.equal((await browser.get(second)).location, `${scene.url}/connect/result/connected`)
    assert.equal(await scene.connections('two-tabs'), 1)
  })

  test('an approval that is clicked twice redirects twice to the same login, whose callback counts', async () => {
    const browser = new Browser()
    const link = await scene.link('two-clicks')
    await browser.get(link)
    const yes = () => browser.post(`${link}/allow/sandbox`, { decision: 'approve', broker: 'SANDBOX' })
    const [first, second] = await Promise.all([yes(), yes()])
    assert.deepEqual([first.status, first.location], [303, second.location])
    assert.equal((await browser.get(await browser.logIn(second.location, scene.demo))).location, `${scene.url}/connect/result/connected`)
  })

  test('without the browser’s cookie, or with another’s: nothing is connected, and the right browser can still continue [S4]', async () => {
    const browser = new Browser()
    const callback = await browser.logIn(await browser.approve(await scene.link('s4')), scene.demo)
    refused(await new Browser().get(callback))
    const other = new Browser()
    await other.get(await scene.link('s4'))
    refused(await other.get(callback), 'This link belongs to another browser')
    assert.equal(await scene.connections('s4'), 0)
    assert.equal((await browser.get(callback)).location, `${scene.url}/connect/result/connected`)
  })

  test('one user’s state with the code of another’s login: neither is linked to the other’s account [S5]', async () => {
    const browser = new Browser()
    const mine = new URL(await browser.logIn(await browser.approve(await scene.link('s5-a')), scene.demo))
    const theirs = new URL(await browser.logIn(await browser.approve(await scene.link('s5-b')), scene.demo))
    mine.searchParams.set('code', theirs.searchParams.get('code') ?? '')
    assert.equal((await browser.get(mine.href)).location, `${scene.url}/connect/result/broker_down`)
    assert.equal(await scene.connections('s5-a'), 0)
    assert.equal(await scene.connections('s5-b'), 0)
  })

  test('one broker’s callback at another’s address: no token is requested [S6]', async () => {
    const browser = new Browser()
    const callback = await browser.logIn(await browser.approve(await scene.link('s6')), scene.demo)
    const requested = await scene.requested('token')
    refused(await browser.get(callback.replace('/callback/sandbox', '/callback/other')))
    for (const environment of ['paper', 'live', 'sandbox', 'x'])
      refused(await browser.get(callback.replace('/callback/sandbox', `/callback/sandbox/${environment}`)))
    refused(await browser.get(callback.replace('/callback/sandbox', '/callback/nobody')))
    refused(await browser.get(callback.replace('/callback/sandbox', '/callback/..%2fx')))
    assert.equal(await scene.requested('token'), requested)
    assert.equal((await browser.get(callback)).location, `${scene.url}/connect/result/connected`)
  })

  async function withIssuer(alter: (query: URLSearchParams) => void): Promise<void> {
    const browser = new Browser()
    const callback = new URL(await browser.logIn(await browser.approve(await scene.link('s78')), scene.demo))
    const requested = await scene.requested('token')
    assert.ok(callback.searchParams.has('iss'))
    alter(callback.searchParams)
    assert.equal((await browser.get(callback.href)).location, `${scene.url}/connect/result/broker_down`)
    assert.equal(await scene.requested('token'), requested)
    assert.equal(await scene.connections('s78'), 0)
  }

  test('an issuer that differs by a slash: no token is requested [S7]', () => withIssuer(query => query.set('iss', `${query.get('iss')}/`)))

  test('no issuer although the broker declares one: no token is requested [S8]', () => withIssuer(query => query.delete('iss')))

  test('a contradictory callback is refused, and the genuine one still counts [S9]', async () => {
    const browser = new Browser()
    const callback = await browser.logIn(await browser.approve(await scene.link('s9')), scene.demo)
    for (const more of ['&error=access_denied', '&code=again', `&state=${'b'.repeat(43)}`]) refused(await browser.get(callback + more))
    refused(await browser.get(callback.replace(/\?.*/, '')))
    assert.equal((await browser.get(callback)).location, `${scene.url}/connect/result/connected`)
    assert.equal(await scene.connections('s9'), 1)
  })

  test('an unused grant is revoked if the broker identifies its login and this ends no other grant', async () => {
    const broken = async (login: number) => {
      const browser = new Browser()
      const before = await scene.requested('revoke')
      const logins = { ...scene.demo, sandbox_logins: scene.demo.sandbox_logins.slice(login) }
      const answer = await browser.get(await browser.logIn(await browser.approve(await scene.link('given-back')), logins))
      return { answer, revoked: (await scene.requested('revoke')) - before }
    }
    connections = { create: async () => false }
    const overtaken = await broken(1)
    assert.deepEqual([overtaken.answer.location, overtaken.revoked], [`${scene.url}/connect/result/used`, 1])
    const shared = await broken(0)
    assert.deepEqual([shared.answer.location, shared.revoked], [`${scene.url}/connect/result/used`, 1])
    connections = {}
    await fetch(`${scene.demo.sandbox_control_url}/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ on: 'accounts.list', do: 'status', status: 503, times: 5 })
    })
    const failed = await broken(1)
    await fetch(`${scene.demo.sandbox_control_url}/faults`, { method: 'DELETE' })
    connections = {
      create: async () => {
        throw new StoreUnavailable('gone')
      }
    }
    assert.equal((await broken(1)).revoked, 1, 'nothing was stored')
    connections = {}
    assert.deepEqual(
      [failed.answer.location, failed.revoked],
      [`${scene.url}/connect/result/broker_down`, 1],
      'whose login it is is unknown, and its revocation affects no other'
    )
    assert.equal(await scene.connections('given-back'), 0)
  })

  test('an unconfirmed commit is looked up: a connected user sees it, and an unclear one keeps the grant', async () => {
    const walk = async (userId: string) => {
      const browser = new Browser()
      return browser.get(await browser.logIn(await browser.approve(await scene.link(userId)), scene.demo))
    }
    const before = await scene.requested('revoke')
    connections = {
      create: async (...given) => {
        await scene.store.connections.create(...given)
        throw new CommitUnknown('no word')
      }
    }
    assert.equal((await walk('doubt-done')).location, `${scene.url}/connect/result/connected`)
    assert.equal(await scene.connections('doubt-done'), 1)
    connections = { create: () => Promise.reject(new CommitUnknown('no word')) }
    const lost = await walk('doubt-lost')
    connections = {}
    assert.equal(lost.status, 500)
    assert.ok(lost.html.includes('<h1>Something went wrong here</h1>'))
    assert.equal(await scene.requested('revoke'), before)
  })
})

test('a broker’s error is reported with our own message, whatever the broker sends [S19]', async () => {
  const hostile = '<script>alert(1)</script>'
  await using scene = await openScene({
    brokers: real =>
      new Map(
        [...real].map(([id, definition]) => [
          id,
          { ...definition, login: withMethods(definition.login, { complete: () => Promise.reject(new BrokerFault('refused', hostile)) }) }
        ])
      )
  })
  const browser = new Browser()
  const callback = await browser.logIn(await browser.approve(await scene.link('s19')), scene.demo)
  const { location } = await browser.get(`${callback}&error_description=${encodeURIComponent(hostile)}`)
  assert.equal(location, `${scene.url}/connect/result/broker_down`)
  assert.ok(!(await browser.get(location)).html.includes('<script'))
})

/** `target` with the methods that `given` has at the time of a call. */
function lazily<T extends Store[keyof Store] & object>(target: T, given: () => Partial<T>): T {
  return new Proxy(target, {
    get(real, name) {
      const value = Reflect.get(given(), name) ?? Reflect.get(real, name, real)
      return typeof value === 'function' ? value.bind(real) : value
    }
  })
}
