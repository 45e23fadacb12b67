/** A response body with additional headers. */
export class WithHeaders<Body> {
  readonly body: Body
  readonly headers: Readonly<Record<string, string>>

  constructor(body: Body, headers: Readonly<Record<string, string>>) {
    this.body = body
    this.headers = headers
  }
}
