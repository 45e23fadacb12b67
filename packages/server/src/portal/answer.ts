import type { FastifyReply } from 'fastify'

/** Sends a page that must not be stored, framed or scripted, and whose address does not leak. */
export function page(reply: FastifyReply, status: number, html: string, formTargets: readonly string[] = []): FastifyReply {
  return secured(reply, formTargets).code(status).type('text/html; charset=utf-8').send(html)
}

/** Redirects to `target`, by GET. */
export function seeOther(reply: FastifyReply, target: string): FastifyReply {
  return secured(reply, []).redirect(target, 303)
}

function secured(reply: FastifyReply, formTargets: readonly string[]): FastifyReply {
  return reply.headers({
    'content-security-policy': `default-src 'none'; style-src 'self'; img-src data:; form-action ${formAction(formTargets)}; frame-ancestors 'none'; base-uri 'none'`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin'
  })
}

const LOOPBACK = ['http://localhost:*', 'http://127.0.0.1:*']

/**
 * Browsers hold every redirect behind a form to this list, and the chain goes on where we cannot see it: a broker's login on another host, a
 * platform's `www`. A link left out is a button that does nothing. So a form with targets may lead to any https address, and to plain http
 * only at the origins named, or on the user's own machine when one of them is there. What our forms send is a decision and a broker's name,
 * never a secret.
 */
function formAction(targets: readonly string[]): string {
  if (targets.length === 0) return "'self'"
  const plain = targets.filter(target => target.startsWith('http:')).map(target => new URL(target))
  // The list has no way to write an IPv6 address.
  if (plain.some(({ hostname }) => hostname.startsWith('['))) return "'self' https: http:"
  const loopback = plain.some(({ hostname }) => hostname === 'localhost' || hostname.startsWith('127.')) ? LOOPBACK : []
  return ["'self'", 'https:', ...new Set([...plain.map(({ origin }) => origin), ...loopback])].join(' ')
}
