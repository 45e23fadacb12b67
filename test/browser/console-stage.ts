// The console of a service with an order that is filled and one that rests, and a browser that is logged in.
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { chromiumLaunchOptions } from '@trunkline/testkit/chromium'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { Body } from '../acceptance/api.ts'
import { Stage, type Trader } from '../acceptance/stream-stage.ts'
import { fits, passesAxe, RULES_OF_COLOR, SCHEMES, WIDTHS } from './fitness.ts'
import { headingOf } from './stage.ts'
import { type Habits, type Visit, visit } from './visit.ts'

/** Where nobody is logged in yet, the page asks and is refused. */
export const NO_SESSION = /^401: .*\/admin\/v1\/session$/

interface Opened extends AsyncDisposable {
  readonly stage: Stage
  readonly trader: Trader
  readonly browser: Browser
  readonly filled: Body
  readonly session: NonNullable<BrowserContextOptions['storageState']>
  readonly userKey: string
}

/** The console that the tests of a suite share: opened before the first of them, and closed after the last. */
export class SharedConsole {
  #opened: Opened | undefined

  /** Inside the suite. */
  constructor() {
    before(async () => {
      this.#opened = await opened()
    })
    after(() => this.#opened?.[Symbol.asyncDispose]())
  }

  get #now(): Opened {
    return this.#opened ?? assert.fail('the console is open from the first test on')
  }

  get stage(): Stage {
    return this.#now.stage
  }

  /** The user whose orders there are. */
  get trader(): Trader {
    return this.#now.trader
  }

  get userKey(): string {
    return this.#now.userKey
  }

  /** The order that is filled. */
  get filled(): Body {
    return this.#now.filled
  }

  get browser(): Browser {
    return this.#now.browser
  }

  /** A browser of its own that is logged in. */
  loggedIn(options: BrowserContextOptions = {}, habits: Habits = {}): Promise<Visit> {
    return visit(this.browser, { ...options, storageState: this.#now.session }, habits)
  }

  open(page: Page, path: string): Promise<unknown> {
    return page.goto(`${this.stage.service.url}/console${path}`)
  }

  linkTo(path: string): Promise<string> {
    return linkTo(this.stage, path)
  }
}

async function opened(): Promise<Opened> {
  await using undone = new AsyncDisposableStack()
  const stage = undone.use(await Stage.open('embedded', { TRUNKLINE_WEBHOOK_NETWORKS: '127.0.0.0/8' }))
  const browser = await chromium.launch(chromiumLaunchOptions())
  undone.defer(() => browser.close())
  const trader = await stage.trader()
  const filled = await trader.buy('2')
  await trader.rest()
  await using walk = await visit(browser, {}, { refusals: NO_SESSION })
  await walk.page.goto(await linkTo(stage, '/'))
  await headed(walk.page, 'Home')
  const session = await walk.page.context().storageState()
  const { data } = await read(walk.page, `/search?q=${trader.userId}`)
  const parts = undone.move()
  return { stage, trader, browser, filled, session, userKey: data[0].user_key, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

/** A link that logs in, to a page of the console. */
async function linkTo(stage: Stage, path: string): Promise<string> {
  const { url, code } = await stage.operate('operator', 'link')
  assert.equal(url, `${stage.service.url}/console/#code=${code}`)
  return url.replace('/console/', `/console${path}`)
}

/** Fails unless the page fits each width and passes axe in each colour scheme. */
export async function judge(page: Page, what: string): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 })
    await fits(page, `${what} at ${width} px`)
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme })
      if (width !== 320) await passesAxe(page, `${what} at ${width} px, ${colorScheme}`, colorScheme === 'light' ? null : RULES_OF_COLOR)
    }
  }
  await page.setViewportSize({ width: 640, height: 400 })
  await page.addStyleTag({ content: 'html { font-size: 200% }' })
  await fits(page, `${what} with letters of twice the size`)
}

export async function headed(page: Page, heading: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
  assert.equal(await headingOf(page), heading)
}

/** What the page's own session reads. */
export function read(page: Page, path: string): Promise<Body> {
  return page.evaluate(`fetch('/admin/v1${path}').then(answer => answer.json())`)
}
