import type { FastifyReply } from 'fastify'

const HTML = 'text/html; charset=utf-8'

/** Sends a page with headers that forbid caching, framing and scripts, and keep its URL out of referrers. */
export function page(reply: FastifyReply, status: number, html: string, formTargets: readonly string[] = []): FastifyReply {
  return secured(reply, formTargets).code(status).type(HTML).send(html)
}

/** Redirects to `target` with a 303, so the browser uses GET. */
export function seeOther(reply: FastifyReply, target: string): FastifyReply {
  return secured(reply, []).redirect(target, 303)
}

/** For a page that a script of the platform opened: it keeps its opener, which its last page sends the outcome to. */
export function withOpener(reply: FastifyReply): FastifyReply {
  return reply.removeHeader('cross-origin-opener-policy')
}

/** A page with one script of ours. */
export function scriptedPage(reply: FastifyReply, status: number, html: string): FastifyReply {
  return allowing(secured(reply, []), "script-src 'self'").code(status).type(HTML).send(html)
}

/** A page with one script of ours that pages of `ancestor` may show in a frame. It takes no decision. */
export function framedPage(reply: FastifyReply, html: string, ancestor: string): FastifyReply {
  return allowing(secured(reply, [], ancestor), "script-src 'self'")
    .removeHeader('x-frame-options')
    .type(HTML)
    .send(html)
}

function allowing(reply: FastifyReply, directive: string): FastifyReply {
  return reply.header('content-security-policy', `${reply.getHeader('content-security-policy')}; ${directive}`)
}

function secured(reply: FastifyReply, formTargets: readonly string[], ancestor = "'none'"): FastifyReply {
  return reply.headers({
    'content-security-policy': `default-src 'none'; style-src 'self'; img-src data:; form-action ${formAction(formTargets)}; frame-ancestors ${ancestor}; base-uri 'none'`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin'
  })
}

const LOOPBACK = ['http://localhost:*', 'http://127.0.0.1:*']

/**
 * The `form-action` directive of the content security policy. Some browsers apply it to every redirect that follows a form, and not all of
 * these are known here: a broker may redirect its login to another host, a platform to its `www` host. A redirect that the list does not
 * allow is blocked, and the button appears to do nothing. A form with targets may therefore lead to any https address. Plain http is
 * allowed only for the origins of the targets, and for any loopback port if one of the targets is on loopback. The forms of these pages
 * send a decision and a broker's name, never a secret.
 */
function formAction(targets: readonly string[]): string {
  if (targets.length === 0) return "'self'"
  const plain = targets.filter(target => target.startsWith('http:')).map(target => new URL(target))
  // CSP source lists cannot express an IPv6 address.
  if (plain.some(({ hostname }) => hostname.startsWith('['))) return "'self' https: http:"
  const loopback = plain.some(({ hostname }) => hostname === 'localhost' || hostname.startsWith('127.')) ? LOOPBACK : []
  return ["'self'", 'https:', ...new Set([...plain.map(({ origin }) => origin), ...loopback])].join(' ')
}
