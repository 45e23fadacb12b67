/** A minimal browser for plain forms: cookies per host, redirects, hidden fields. */

interface Page {
  readonly url: string
  readonly html: string
}

const HOPS_MAX = 20
/** Most forms between a link and its end. */
const STEPS_MAX = 5
const CONNECT_MS_MAX = 60_000

export interface FormBrowserOptions {
  /** An address that is not requested: the page there is the last one, without text. */
  readonly isEnd?: (url: string) => boolean
  readonly signal?: AbortSignal
}

export class FormBrowser {
  readonly #cookies = new Map<string, Map<string, string>>()
  readonly #options: FormBrowserOptions

  constructor(options: FormBrowserOptions = {}) {
    this.#options = options
  }

  open(url: string): Promise<Page> {
    return this.#go(url, { method: 'GET' })
  }

  /** Sends the page's form with `fields` beside its hidden ones. */
  submit(page: Page, fields: Readonly<Record<string, string>>): Promise<Page> {
    const action = /<form[^>]*\saction="([^"]*)"/.exec(page.html)?.[1]?.replaceAll('&amp;', '&') ?? page.url
    const body = new URLSearchParams()
    for (const [, name, value] of page.html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)) {
      if (name !== undefined && value !== undefined) body.set(name, value)
    }
    for (const [name, value] of Object.entries(fields)) body.set(name, value)
    return this.#go(new URL(action, page.url).href, { method: 'POST', body })
  }

  async #go(start: string, first: { readonly method: string; readonly body?: URLSearchParams }): Promise<Page> {
    let url = start
    let init: RequestInit = first
    const { isEnd, signal } = this.#options
    for (let hop = 0; hop < HOPS_MAX; hop += 1) {
      if (isEnd?.(url) === true) return { url, html: '' }
      const jar = this.#jar(url)
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie }, ...(signal !== undefined && { signal }) })
      for (const line of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        if (name !== undefined && value !== undefined) jar.set(name, value)
      }
      const location = response.headers.get('location')
      if (response.status < 300 || response.status >= 400 || location === null) return { url, html: await response.text() }
      url = new URL(location, url).href
      init = { method: 'GET' }
    }
    throw new Error(`more than ${HOPS_MAX} redirects from ${new URL(start).origin}`)
  }

  #jar(url: string): Map<string, string> {
    const { host } = new URL(url)
    const jar = this.#cookies.get(host) ?? new Map<string, string>()
    this.#cookies.set(host, jar)
    return jar
  }
}

/**
 * Completes a portal link as a user would: approve, log in, approve at the broker. Returns the last page's heading. @throws Error if that
 * takes a minute
 */
export async function connect(
  link: string,
  broker: string,
  login: { readonly username: string; readonly password: string }
): Promise<string> {
  const browser = new FormBrowser({ signal: AbortSignal.timeout(CONNECT_MS_MAX) })
  const invitation = await browser.open(link)
  const page = await approved(browser, await browser.submit(invitation, { broker, decision: 'approve' }), login)
  return /<h1>([^<]*)<\/h1>/.exec(page.html)?.[1] ?? page.url
}

/** Logs in and approves on the broker's pages, as far as they lead. */
export async function approved(
  browser: FormBrowser,
  first: Page,
  login: { readonly username: string; readonly password: string }
): Promise<Page> {
  let page = first
  for (let step = 0; step < STEPS_MAX && page.html.includes('name="decision"'); step += 1) {
    const hasPasswordField = page.html.includes('name="password"')
    page = await browser.submit(page, hasPasswordField ? { ...login, decision: 'approve' } : { decision: 'approve' })
  }
  return page
}
