/** How streams end, by the codes of the control API's `drop`. Without a code the connection is reset. */

export const CODES = { goAway: 1001, end: 1000 } as const

const ERRORS: Readonly<Record<number, string>> = {
  1011: 'InternalServerError',
  1012: 'ServiceUnavailable',
  1013: 'Failed',
  4400: 'BadRequest',
  4403: 'Forbidden',
  4404: 'NotFound',
  4409: 'DualLogon',
  4500: 'InternalServerError',
  4503: 'ServiceUnavailable',
  4504: 'GatewayTimeout'
}

/** The last line of a stream; null: it simply ends. */
export function closeReason(on: 'account' | 'market', code: number): string | null {
  if (code === CODES.goAway)
    return textLine(on === 'account' ? { StreamStatus: 'GoAway' } : { Error: 'GoAway', Message: 'The server is draining' })
  const error = ERRORS[code]
  return error === undefined ? null : textLine({ Error: error, Message: 'The control API ended this stream' })
}

export function textLine(frame: object): string {
  return `${JSON.stringify(frame)}\r\n`
}
