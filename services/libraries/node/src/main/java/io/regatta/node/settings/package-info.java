/**
 * Configuration: {@link io.regatta.node.settings.Settings} reads files, variables, properties and options into
 * records whose components are described by {@link io.regatta.node.settings.Setting}. Part of the public API.
 */
package io.regatta.node.settings;
