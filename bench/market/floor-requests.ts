/** Requests to the floor: to read the front's market stream, and to serve readers. */
export type FloorRequests = {
  readonly open: {
    readonly input: { readonly sandboxUrl: string; readonly symbols: readonly string[] }
    readonly output: { readonly url: string }
  }
}
