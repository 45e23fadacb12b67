/** What an answer says besides its record. */
export interface Meta {
    readonly status: number;
    /** Names the request in the logs of the service. */
    readonly requestId: string | null;
    /** How fresh the records of each account are; empty where the service does not say. */
    readonly freshness: readonly Freshness[];
    /** Null where the service does not say. */
    readonly rateLimit: RateLimit | null;
    readonly headers: Headers;
}
/** How fresh the records of one account are. */
export interface Freshness {
    /** Of many accounts only the worst are named; `*` stands for the others, of which there are `more`. */
    readonly accountId: string;
    /** When the broker last confirmed them; null if never. */
    readonly confirmed: string | null;
    readonly state: 'live' | 'fresh' | 'stale' | 'unsupported' | 'unavailable' | (string & {});
    readonly reason: string | null;
    readonly more: number;
}
export interface RateLimit {
    /** Requests of one burst. */
    readonly limit: number;
    /** Requests that are allowed at this moment. */
    readonly remaining: number;
    readonly resetSeconds: number;
}
export declare function metaOf(status: number, headers: Headers): Meta;
/** Parses the header `trunkline-freshness`, a structured field list (RFC 9651), of which the service uses strings and tokens. */
export declare function freshnessOf(header: string): readonly Freshness[];
