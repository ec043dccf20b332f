/** Protection of a process's ports: TLS, the job's token, limits before authentication, and messages of refusals. */
package io.regatta.protocol.security;
