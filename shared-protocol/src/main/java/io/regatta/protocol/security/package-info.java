/** Protection of a process's ports: TLS, the job's token, and messages of refusals. */
package io.regatta.protocol.security;
