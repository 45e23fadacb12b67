// One user's browser on the portal, watched: whatever the console complains of, and whatever leaves for elsewhere, fails the test.
import assert from 'node:assert/strict'
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core'

const SECRETS_IN_ADDRESSES = /\/connect\/(?!assets\/|result\/)|[?&](?:code|state)=/
// The browser says so of every page with such a status, and some of ours have one.
const STATUS_NOTE = /^Failed to load resource: the server responded with a status of/

export interface Visit extends AsyncDisposable {
  readonly page: Page
}

export interface Habits {
  /** Its user does not wait for answers. */
  readonly isHurried?: boolean
  /** Answers that the page expects to be refused, as `status: address`. */
  readonly refusals?: RegExp
}

/** Opens a browser of its own, with no cookies unless they are given. Disposing it closes it, and fails when anything was amiss. */
export async function visit(
  browser: Browser,
  options: BrowserContextOptions = {},
  { isHurried = false, refusals }: Habits = {}
): Promise<Visit> {
  const context = await browser.newContext(options)
  const problems: string[] = []
  if (options.javaScriptEnabled !== false) {
    await context.addInitScript(`document.addEventListener('securitypolicyviolation', event =>
      console.error('content security policy: ' + event.violatedDirective + ' ' + event.blockedURI))`)
  }
  context.on('console', message => {
    if (['error', 'warning'].includes(message.type()) && !STATUS_NOTE.test(message.text())) problems.push(`console: ${message.text()}`)
  })
  context.on('weberror', error => problems.push(`script: ${error.error().message}`))
  context.on('requestfailed', request => {
    const why = request.failure()?.errorText
    // Chromium calls a request aborted, too, whose answer a page has read to its end as a stream.
    const isRead = why === 'net::ERR_ABORTED' && request.existingResponse() !== null
    if (!isHurried && !isRead) problems.push(`no answer: ${request.url()} ${why}`)
  })
  context.on('request', request => problems.push(...complaintsAbout(request)))
  context.on('response', response => {
    const refusal = `${response.status()}: ${response.url()}`
    if (!response.request().isNavigationRequest() && response.status() >= 400 && refusals?.test(refusal) !== true) problems.push(refusal)
  })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  return {
    page,
    async [Symbol.asyncDispose]() {
      await context.close()
      assert.deepEqual(problems, [])
    }
  }
}

/** A page asks only its own origin for anything, and no address that holds a secret is passed on. */
function complaintsAbout(request: Request): readonly string[] {
  const url = new URL(request.url())
  if (url.protocol === 'data:') return []
  const complaints: string[] = []
  const isLocal = ['127.0.0.1', 'localhost'].includes(url.hostname)
  const isOwn = request.isNavigationRequest() || url.origin === new URL(request.frame().url()).origin
  if (!isLocal || !isOwn) complaints.push(`asks elsewhere: ${url.href} from ${request.frame().url()}`)
  const { referer } = request.headers()
  if (referer !== undefined && SECRETS_IN_ADDRESSES.test(referer)) complaints.push(`the referrer reveals a secret: ${url.href}`)
  return complaints
}
