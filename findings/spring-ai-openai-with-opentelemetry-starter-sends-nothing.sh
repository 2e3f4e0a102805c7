#!/bin/sh
# Spring AI 2.0.1, its starter for OpenAI, beside Spring Boot 4.0.7's starter for OpenTelemetry, by their own BOMs and Maven.
#
# Both starters send by OkHttp. What Maven resolves should hold one release of it, with the Okio that it needs. It holds
# OkHttp 4.12.0 and 5.2.1 (okhttp-jvm, with the same classes) and Okio 3.6.0, as the shorter paths have them; a program
# compiles and starts, and then each request fails with a NoSuchMethodError (here OkHttp 5 is the one that is loaded).
# Naming okhttp 5.2.1 and okio 3.16.1 in dependencyManagement mends it.
#
# Output seen: okhttp-4.12.0.jar okhttp-jvm-5.2.1.jar okio-3.6.0.jar okio-jvm-3.6.0.jar
#   java.lang.NoSuchMethodError: 'okio.Socket okio.Okio.socket(java.net.Socket)'
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent>
    <groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId><version>4.0.7</version>
  </parent>
  <groupId>a</groupId><artifactId>a</artifactId><version>1</version>
  <dependencyManagement><dependencies><dependency>
    <groupId>org.springframework.ai</groupId><artifactId>spring-ai-bom</artifactId><version>2.0.1</version>
    <type>pom</type><scope>import</scope>
  </dependency></dependencies></dependencyManagement>
  <dependencies>
    <dependency><groupId>org.springframework.ai</groupId><artifactId>spring-ai-starter-model-openai</artifactId></dependency>
    <dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-opentelemetry</artifactId></dependency>
  </dependencies>
</project>
XML
cat > Main.java <<'JAVA'
public class Main {
    public static void main(String[] arguments) throws Exception {
        try (var server = new java.net.ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress())) {
            var request = new okhttp3.Request.Builder().url("http://127.0.0.1:" + server.getLocalPort()).build();
            new okhttp3.OkHttpClient().newCall(request).execute();
        }
    }
}
JAVA
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > /dev/null
jars=$(ls lib | grep -E '^ok(http|io)' | tr '\n' ' ')
path=lib/okhttp-jvm-5.2.1.jar:$(ls lib/*.jar | grep -v okhttp-4 | tr '\n' ':')
javac -nowarn -cp "$path" Main.java
seen=$(timeout 60 java -cp ".:$path" Main 2>&1 | grep -o -m 1 'java.lang.NoSuchMethodError: .*')
echo "$jars"
echo "$seen"
[ "$jars" = 'okhttp-4.12.0.jar okhttp-jvm-5.2.1.jar okio-3.6.0.jar okio-jvm-3.6.0.jar ' ]
[ "$seen" = "java.lang.NoSuchMethodError: 'okio.Socket okio.Okio.socket(java.net.Socket)'" ]
