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
element() {
  echo "$2" |
    sed -E "s|(.*)/(.*)@(.*)|<$1><groupId>\1</groupId><artifactId>\2</artifactId><version>\3</version>${3:-}</$1>|"
}
cat > pom.xml <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  $(element parent org.springframework.boot/spring-boot-starter-parent@4.0.7)
  <artifactId>a</artifactId>
  <dependencyManagement><dependencies>
    $(element dependency org.springframework.ai/spring-ai-bom@2.0.1 '<type>pom</type><scope>import</scope>')
  </dependencies></dependencyManagement>
  <dependencies>
    $(element dependency org.springframework.ai/spring-ai-starter-model-openai@2.0.1)
    $(element dependency org.springframework.boot/spring-boot-starter-opentelemetry@4.0.7)
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
