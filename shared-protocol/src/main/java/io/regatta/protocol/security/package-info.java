/** Who may speak with a process: TLS and the job's token on its ports, and what whoever is refused is told. */
package io.regatta.protocol.security;
