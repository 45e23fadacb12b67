/**
 * An address that may get credentials: encrypted, or of this machine, or any with `allowHttp`. Otherwise what was found instead, without
 * what may be a password.
 */
export declare function addressOf(text: string, scheme: 'http' | 'ws', allowHttp: boolean | undefined): URL | string;
