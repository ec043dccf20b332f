/**
 * Protection of a process's ports: TLS, the job's token, and messages of refusals. All servers and clients are made
 * with it.
 */
package io.regatta.protocol.security;
