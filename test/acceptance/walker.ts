// A browser in small: follows redirects, keeps cookies, fills in forms. Enough to link a broker as an end user does.
import assert from 'node:assert/strict'

const STEPS_MAX = 20

/** Where a walk has come to: a page, or an address that the walker must not enter. */
export interface Page {
  readonly url: string
  readonly status: number
  readonly html: string
}

interface Form {
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
  readonly names: ReadonlySet<string>
}

/** One browser with its cookies. */
export class Walker {
  readonly #cookies = new Map<string, Map<string, string>>()
  /** Addresses the walker stops in front of. */
  readonly #stopsAt: string

  constructor(stopsAt: string) {
    this.#stopsAt = stopsAt
  }

  open(url: string): Promise<Page> {
    return this.#go(url, { method: 'GET' })
  }

  /** Sends the page's form with these values in it. */
  submit(page: Page, values: Readonly<Record<string, string>>): Promise<Page> {
    const form = formOf(page, Object.keys(values))
    const body = new URLSearchParams({ ...form.fields, ...values }).toString()
    return this.#go(form.action, { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded' } })
  }

  async #go(url: string, init: RequestInit): Promise<Page> {
    let next = url
    let request = init
    for (let step = 0; step < STEPS_MAX; step++) {
      if (next.startsWith(this.#stopsAt)) return { url: next, status: 0, html: '' }
      const response = await fetch(next, {
        ...request,
        redirect: 'manual',
        headers: { ...request.headers, cookie: this.#cookiesFor(next) }
      })
      this.#keep(next, response)
      const location = response.headers.get('location')
      if (location === null) return { url: next, status: response.status, html: await response.text() }
      await response.arrayBuffer()
      next = new URL(location, next).href
      request = { method: 'GET' }
    }
    assert.fail(`more than ${STEPS_MAX} redirects, the last to ${next}`)
  }

  #cookiesFor(url: string): string {
    return [...(this.#cookies.get(new URL(url).host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  #keep(url: string, { headers }: Response): void {
    const { host } = new URL(url)
    const jar = this.#cookies.get(host) ?? new Map<string, string>()
    for (const line of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /;\s*max-age=0/i.test(line)) jar.delete(name)
      else jar.set(name, value)
    }
    this.#cookies.set(host, jar)
  }
}

function formOf(page: Page, names: readonly string[]): Form {
  const forms = [...page.html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)].map(([, head = '', inner = '']): Form => {
    const inputs = [...inner.matchAll(/<(?:input|button|select)\b([^>]*)>/g)].map(([, attributes = '']) => attributes)
    const fields = inputs
      .filter(attributes => /type="hidden"/.test(attributes) || /\bchecked\b/.test(attributes))
      .map(attributes => [attribute(attributes, 'name') ?? '', attribute(attributes, 'value') ?? ''] as const)
    return {
      action: new URL(attribute(head, 'action') ?? page.url, page.url).href,
      fields: Object.fromEntries(fields),
      names: new Set(inputs.map(attributes => attribute(attributes, 'name') ?? ''))
    }
  })
  const form = forms.find(known => names.every(name => known.names.has(name)))
  assert.ok(form, `no form with ${names.join(', ')} on ${page.url} (${page.status}): ${textOf(page)}`)
  return form
}

/** What a reader sees of the page. */
export function textOf({ html }: Page): string {
  return html
    .replace(/<(style|head)\b[\s\S]*?<\/\1>/g, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

function attribute(text: string, name: string): string | undefined {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1]?.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'")
}
