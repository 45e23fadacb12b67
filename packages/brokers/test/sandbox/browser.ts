/** A user with a browser, as far as the sandbox's login pages need one: cookies, redirects, forms. */

import assert from 'node:assert/strict'

export interface Customer {
  readonly username: string
  readonly password: string
}

const STEPS_MAX = 12

/** Follows an authorization address until it leads back to `until`, and gives that address. */
export async function walk(start: string, until: string, customer: Customer, decision: 'approve' | 'decline'): Promise<string> {
  const jar = new Map<string, string>()
  let url = start
  let form: URLSearchParams | null = null
  for (let step = 0; step < STEPS_MAX; step += 1) {
    if (url.startsWith(until)) return url
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === null ? {} : { method: 'POST', body: form })
    })
    keep(jar, answer)
    const location = answer.headers.get('location')
    const page = await answer.text()
    if (location !== null) {
      url = new URL(location, url).href
      form = null
      continue
    }
    assert.equal(answer.status, 200, page.replace(/<style>[\s\S]*<\/style>/, ''))
    const action = /<form method="post" action="([^"]+)"/.exec(page)?.[1]
    assert.ok(action !== undefined, `a page without a form: ${page}`)
    url = new URL(action.replaceAll('&amp;', '&'), url).href
    const needsPassword = page.includes('name="password"')
    form = new URLSearchParams({ decision, ...(needsPassword ? { username: customer.username, password: customer.password } : {}) })
  }
  throw new Error(`the login did not end within ${STEPS_MAX} steps; it is at ${url}`)
}

function keep(jar: Map<string, string>, answer: Response): void {
  for (const cookie of answer.headers.getSetCookie()) {
    const [pair = ''] = cookie.split(';')
    const at = pair.indexOf('=')
    if (/expires=Thu, 01 Jan 1970|max-age=0/i.test(cookie)) jar.delete(pair.slice(0, at))
    else jar.set(pair.slice(0, at), pair.slice(at + 1))
  }
}
