// What a browser test needs around it: the service on PostgreSQL, a browser, a platform's site, and hands for both ends of a login.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chromiumLaunchOptions } from '@trunkline/testkit/chromium'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { until } from '@trunkline/testkit/until'
import { Client } from 'pg'
import { type Browser, chromium, type Page } from 'playwright-core'
import { Api, type User } from '../acceptance/api.ts'
import { type RunningService, startService } from '../acceptance/harness.ts'
import { openSite, type Site } from './site.ts'

export interface Stage extends AsyncDisposable {
  readonly service: RunningService
  readonly api: Api
  readonly browser: Browser
  readonly site: Site
  /** A new user each time. */
  readonly user: () => Promise<User>
  /** A portal link for that user, to the sandbox unless `body` says otherwise. */
  readonly link: (user: User, body?: Readonly<Record<string, unknown>>) => Promise<string>
  /** The ids of the user's connections. */
  readonly connections: (user: User) => Promise<readonly string[]>
  /** Lets half an hour pass for every link there is, by moving it back in the database. */
  readonly expireLinks: () => Promise<void>
}

/** Sets the stage. `program` may be another one that composes the service. */
export async function openStage(program?: string): Promise<Stage> {
  const resources = new AsyncDisposableStack()
  try {
    return await open(resources, program)
  } catch (cause) {
    await resources.disposeAsync()
    throw cause
  }
}

async function open(resources: AsyncDisposableStack, program: string | undefined): Promise<Stage> {
  const cluster = resources.use(await sharedPostgres())
  const database = resources.use(await createDatabase(cluster.url))
  const service = resources.use(await startService('none', { TRUNKLINE_DATABASE_URL: database.url }, program))
  const browser = await chromium.launch(chromiumLaunchOptions())
  resources.defer(() => browser.close())
  const site = resources.use(await openSite())
  const api = await Api.of(service)
  let users = 0
  return {
    ...{ service, api, browser, site },
    user: () => api.user(`user-${++users}`),
    link: async (user, body = {}) => {
      const request = { connection_type: 'trade', broker: 'SANDBOX', ...body }
      const answer = await api.call('POST', '/connections', { headers: api.as(user), body: request })
      assert.equal(answer.status, 201, answer.text)
      return answer.body.authorization_url
    },
    connections: async user => {
      const { body } = await api.call('GET', '/connections', { headers: api.as(user) })
      return body.map((row: { readonly connection_id: string }) => row.connection_id)
    },
    expireLinks: () => expireLinks(database.url),
    [Symbol.asyncDispose]: () => resources.disposeAsync()
  }
}

async function expireLinks(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const half = `interval '30 minutes'`
    await client.query(`update connection_attempts set created_at = created_at - ${half}, expires_at = expires_at - ${half}`)
  } finally {
    await client.end()
  }
}

/** The link that shows the demo platform now. */
export async function homeLink({ dataDir }: RunningService): Promise<string> {
  return JSON.parse(await readFile(join(dataDir, 'demo-platform.json'), 'utf8')).home_url
}

/** Opens the first page by its newest link, as the owner of the machine does. Another browser may be quicker: then by the next one. */
export async function enterDemo(page: Page, service: RunningService): Promise<void> {
  const isOpen = async () => {
    await page.goto(await homeLink(service))
    await page.waitForURL(url => url.search === '')
    await page.getByRole('heading', { name: 'Your demo platform', exact: true, level: 2 }).waitFor()
    return (await page.getByText(service.demo.client_id, { exact: true }).count()) > 0
  }
  await until(isOpen, 'the first page is open', 60_000)
}

/** From our page to the broker's login. */
export async function goOn(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Continue/ }).click()
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
}

/** From the broker's login to its question. */
export async function logIn(page: Page, { service }: Stage, which = 0): Promise<void> {
  const { username, password } = service.demo.sandbox_logins[which] ?? assert.fail('no such login')
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('button', { name: 'Allow' }).waitFor()
}

/** The whole way, up to the broker's last question. */
export async function walkToConsent(page: Page, stage: Stage, link: string): Promise<void> {
  await page.goto(link)
  await goOn(page)
  await logIn(page, stage)
}

/** The page's one first-level heading. */
export async function headingOf(page: Page): Promise<string> {
  const headings = await page.getByRole('heading', { level: 1 }).allInnerTexts()
  assert.equal(headings.length, 1, `${page.url()}: ${headings.join(' | ')}`)
  return headings[0] ?? ''
}
