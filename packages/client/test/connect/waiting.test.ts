// connect.js in a page that is made up: whose messages count, and what each way to end is called.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { type ConnectOutcome, createConnect, type OpenOptions } from '../../src/connect/index.ts'

const PORTAL = 'https://trunkline.example'
const LINK = `${PORTAL}/connect/b1QAr-y54PP9OiUGOBUjwVPPoxnDlHwNumgIKLzoqzY`
const [LOOKS_MS, TIMEOUT_MS] = [1_000, 2_100_000]

interface FakePopup {
  closed: boolean
  address: string
  isFocused: boolean
}

/** A page that opens windows, until `isBlocking`. */
class Page extends EventTarget {
  readonly popups: (FakePopup & Record<string, unknown>)[] = []
  readonly [size: string]: unknown
  isBlocking = false
  screenX = 0
  screenY = 0
  outerWidth = 1_000
  outerHeight = 800

  open(): unknown {
    if (this.isBlocking) return null
    const popup = {
      ...{ closed: false, address: '', isFocused: false },
      location: { replace: (address: string) => (popup.address = address) },
      close: () => (popup.closed = true),
      focus: () => (popup.isFocused = true)
    }
    this.popups.push(popup)
    return popup
  }

  /** A message that arrives here. */
  post(data: unknown, origin: string, source: unknown): void {
    this.dispatchEvent(Object.assign(new Event('message'), { data, origin, source }))
  }
}

describe('a page with connect.js', () => {
  let page = new Page()
  beforeEach(() => {
    page = new Page()
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
    Object.assign(globalThis, { window: page })
  })
  afterEach(() => {
    mock.timers.reset()
    Reflect.deleteProperty(globalThis, 'window')
  })

  /** Opens the link, and gives the outcome once there is one. */
  async function opened(
    more: Partial<OpenOptions> = {}
  ): Promise<{ readonly outcomes: ConnectOutcome[]; readonly settle: () => Promise<void> }> {
    const outcomes: ConnectOutcome[] = []
    const keep = (outcome: ConnectOutcome) => void outcomes.push(outcome)
    void createConnect({ portalOrigin: PORTAL }).open({ link: LINK, onSuccess: keep, onExit: keep, ...more })
    const settle = () => new Promise<void>(resolve => setImmediate(resolve))
    await settle()
    return { outcomes, settle }
  }

  function nonceOf({ address }: FakePopup): string {
    const [, nonce = ''] = /^popup\.([\w-]{22})$/.exec(new URL(address).searchParams.get('connect') ?? '') ?? assert.fail(address)
    return nonce
  }

  const message = (nonce: string, result: object) => ({ type: 'trunkline.connect', event: 'outcome', nonce, result })
  const CONNECTED = { connection_id: 'c1', claim_code: 'code' }

  test('the outcome of its window is given once, and the window is closed', async () => {
    const { outcomes, settle } = await opened()
    const [popup = assert.fail()] = page.popups
    assert.ok(popup.address.startsWith(`${LINK}?connect=popup.`))
    page.post(message(nonceOf(popup), CONNECTED), PORTAL, popup)
    page.post(message(nonceOf(popup), { error: '401' }), PORTAL, popup)
    await settle()
    assert.deepEqual(outcomes, [{ type: 'connected', ...CONNECTED }])
    assert.ok(popup.closed)
  })

  test('a message from another origin, another window, with another nonce or of another form is passed over', async () => {
    const { outcomes, settle } = await opened()
    const [popup = assert.fail()] = page.popups
    const good = message(nonceOf(popup), CONNECTED)
    for (const [data, origin, source] of [
      [good, 'https://evil.example', popup],
      [good, 'https://trunkline.example.evil.example', popup],
      [good, 'http://trunkline.example', popup],
      [good, 'null', popup],
      [good, PORTAL, page],
      [good, PORTAL, null],
      [good, PORTAL, { ...popup }],
      [message('A'.repeat(22), CONNECTED), PORTAL, popup],
      [{ ...good, nonce: undefined }, PORTAL, popup],
      [{ ...good, type: 'other' }, PORTAL, popup],
      [{ ...good, event: 'ready' }, PORTAL, popup],
      [{ ...good, result: { connection_id: 7 } }, PORTAL, popup],
      [{ ...good, result: null }, PORTAL, popup],
      [JSON.stringify(good), PORTAL, popup],
      [null, PORTAL, popup]
    ] as const) {
      page.post(data, origin, source)
    }
    await settle()
    assert.deepEqual(outcomes, [])
    page.post(good, PORTAL, popup)
    await settle()
    assert.equal(outcomes.length, 1)
  })

  test('the signal and the user end it while its link is not there yet, and the link is not opened later', async () => {
    const control = new AbortController()
    let answered: (link: string) => void = () => undefined
    const link = new Promise<string>(resolve => {
      answered = resolve
    })
    const aborted = await opened({ link, signal: control.signal })
    control.abort()
    await aborted.settle()
    assert.deepEqual(aborted.outcomes, [{ type: 'exited', reason: 'aborted' }])
    const closed = await opened({ link })
    const [first = assert.fail(), second = assert.fail()] = page.popups
    assert.ok(first.closed)
    second.closed = true
    mock.timers.tick(LOOKS_MS)
    await closed.settle()
    assert.deepEqual(closed.outcomes, [{ type: 'exited', reason: 'closed' }])
    answered(LINK)
    await closed.settle()
    assert.deepEqual([first.address, second.address], ['', ''])
  })

  test('a link that is rejected rejects, and leaves no window', async () => {
    const link = Promise.reject(new Error('no link'))
    await assert.rejects(createConnect({ portalOrigin: PORTAL }).open({ link }), /no link/)
    await assert.rejects(createConnect({ portalOrigin: PORTAL }).open({ link: 'https://evil.example/connect/x' }), {
      message:
        '`link` is the `authorization_url` of a connection, below https://trunkline.example/connect/; it was something else at https://evil.example.'
    })
    assert.deepEqual(
      page.popups.map(({ closed, address }) => [closed, address]),
      [
        [true, ''],
        [true, '']
      ]
    )
  })

  test('a time may be without end, and not nothing', async () => {
    const outcomes: ConnectOutcome[] = []
    const keep = (outcome: ConnectOutcome) => void outcomes.push(outcome)
    void createConnect({ portalOrigin: PORTAL, timeoutMs: Number.POSITIVE_INFINITY }).open({ link: LINK, onExit: keep })
    await new Promise(resolve => setImmediate(resolve))
    mock.timers.tick(TIMEOUT_MS)
    await new Promise(resolve => setImmediate(resolve))
    assert.deepEqual(outcomes, [])
    for (const timeoutMs of [0, -1, Number.NaN])
      assert.throws(() => createConnect({ portalOrigin: PORTAL, timeoutMs }), { code: 'setting_invalid', message: /they were 20000 and / })
    assert.throws(() => Reflect.apply(createConnect, null, []), { code: 'setting_invalid', message: /it was undefined/ })
  })

  test('a refusal says what the redirect would have said', async () => {
    const { outcomes, settle } = await opened()
    const [popup = assert.fail()] = page.popups
    page.post(message(nonceOf(popup), { error: '401', error_details: 'The user declined.' }), PORTAL, popup)
    await settle()
    assert.deepEqual(outcomes, [{ type: 'exited', reason: 'not_connected', error: '401', error_details: 'The user declined.' }])
  })

  test('a window that is closed, blocked, silent or given up has its own reason', async () => {
    const closed = await opened()
    const [left = assert.fail()] = page.popups
    left.closed = true
    mock.timers.tick(LOOKS_MS)
    await closed.settle()

    const silent = await opened()
    mock.timers.tick(TIMEOUT_MS)
    await silent.settle()

    const given = new AbortController()
    const aborted = await opened({ signal: given.signal })
    given.abort()
    await aborted.settle()
    const late = await opened({ signal: given.signal })

    page.isBlocking = true
    const blocked = await opened()
    const reasons = [closed, silent, aborted, late, blocked].map(({ outcomes }) =>
      outcomes.map(outcome => 'reason' in outcome && outcome.reason)
    )
    assert.deepEqual(reasons, [['closed'], ['timed_out'], ['aborted'], ['aborted'], ['blocked']])
    assert.ok(page.popups.every(popup => popup.closed))
  })

  test('while one link is open, another one is not opened, and the window comes to the front', async () => {
    const connect = createConnect({ portalOrigin: PORTAL })
    const first = connect.open({ link: LINK })
    assert.deepEqual(await connect.open({ link: LINK }), { type: 'exited', reason: 'busy' })
    const [popup = assert.fail(), ...others] = page.popups
    assert.deepEqual([popup.isFocused, others], [true, []])
    popup.closed = true
    mock.timers.tick(LOOKS_MS)
    assert.deepEqual(await first, { type: 'exited', reason: 'closed' })
    void connect.open({ link: LINK })
    assert.equal(page.popups.length, 2)
  })

  test('a link that is still to come is opened in the window of the click; none that is no link of the portal', async () => {
    const { outcomes, settle } = await opened({ link: Promise.resolve(LINK) })
    await settle()
    assert.ok(page.popups[0]?.address.startsWith(LINK))
    assert.deepEqual(outcomes, [])
    const connect = createConnect({ portalOrigin: PORTAL })
    for (const link of ['javascript:alert(1)', 'https://evil.example/connect/abc', `${PORTAL}/docs`, `${PORTAL}/connect/a/b`, '']) {
      await assert.rejects(connect.open({ link }), { name: 'ConnectError', code: 'setting_invalid' }, link)
    }
    await assert.rejects(connect.open({ link: Promise.reject(new Error('no link')) }), /no link/)
    await assert.rejects(connect.open({ link: LINK, mode: 'frame' }), { code: 'setting_invalid' })
    assert.ok(page.popups.slice(1).every(popup => popup.closed && popup.address === ''))
  })

  test('the origin of the portal is an origin, encrypted or of this machine', () => {
    for (const portalOrigin of ['https://trunkline.example/', 'http://trunkline.example', 'trunkline.example', '*', '']) {
      assert.throws(() => createConnect({ portalOrigin }), { code: 'setting_invalid' }, portalOrigin)
    }
    createConnect({ portalOrigin: 'http://localhost:8080' })
  })
})
