/** Where a process listens and how it is reached: {@code host:port}, the published address, ports held alone. */
package io.regatta.node.address;
