import { framingOf } from '@trunkline/core/app/connect/visit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { framedPage } from './answer.ts'
import type { PortalContext } from './context.ts'
import { isToken, linkPath } from './form.ts'
import { openerIn } from './opener.ts'
import { framePage } from './render.ts'

/** Shows the page for a platform's frame, if the address that the link returns to is registered: its origin alone may frame it. */
export async function showFrame(
  context: PortalContext,
  request: FastifyRequest,
  token: string,
  reply: FastifyReply
): Promise<FastifyReply> {
  const opener = openerIn(request.query)
  const framing = opener?.mode === 'frame' && isToken(token) ? await framingOf(context.deps, token) : null
  if (opener === null || framing === null) return context.outcomes.unknownLink(request, reply)
  const { platform, brand, origin } = framing
  return framedPage(reply, framePage(platform, brand, { link: linkPath(token), nonce: opener.nonce, origin }), origin)
}
