// A login by a provider: the page goes there, and the provider sends the browser back to the callback, where the console is, too.
import { API, fieldsOf, Refusal, send } from './api.ts'

const CALLBACK = `${API}/oidc/callback`
/** All pages of the console. */
const PAGES = '/console/'

/** The query with which a provider sent the browser to this address, or null. */
export function answerIn({ pathname, search }: Pick<Location, 'pathname' | 'search'>): string | null {
  return pathname === CALLBACK ? search : null
}

/** The provider's address for a login that comes back to this page of the console. @throws Refusal */
export async function beginLogin({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Promise<string> {
  const page = pathname.startsWith(PAGES) ? `${pathname}${search}` : PAGES
  const body = { return_to: page.length > PAGE_LENGTH_MAX ? PAGES : page }
  const { authorization_url: url } = fieldsOf(await send({ method: 'POST', path: `${API}/oidc/logins`, body }))
  return textOf(url, /^https?:/)
}

const PAGE_LENGTH_MAX = 1_000

/** Completes the login; the page of the console to go on with. @throws Refusal */
export async function completeLogin(answer: string): Promise<string> {
  const { return_to: page } = fieldsOf(await send({ method: 'POST', path: `${API}/oidc/sessions`, body: { answer } }))
  return textOf(page, /^\/console\//)
}

function textOf(value: unknown, form: RegExp): string {
  if (typeof value === 'string' && form.test(value)) return value
  throw new Refusal('The service’s answer to the login cannot be used. Reload the page, and log in with a code if it happens again.', {
    ...{ status: 0, code: 'answer_unreadable', requestId: null, retryAfterSeconds: null }
  })
}
