#!/bin/sh
# parts.sh VERSION SECONDS COMMIT SHA256 - prints the list of parts of a release, a document of SPDX 2.3 in JSON.
#
# SECONDS is the time of the commit, SHA256 that of the archive. The rows are those of parts.txt; the versions are those of
# the Debian packages of this machine, or NOASSERTION where a package is not installed.
set -eu
version=$1 created=$(date -u -d "@$2" +%Y-%m-%dT%H:%M:%SZ) commit=$3 sum=$4
parts=$(dirname "$0")/parts.txt
installed() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null || true; }
sed '/^#/d; s/ *| */|/g' "$parts" | while IFS='|' read -r name license place package relation; do
    found=
    [ "$package" = - ] || found=$(installed "$package")
    printf '%s|%s|%s|%s|%s|%s\n' "$name" "$license" "$place" "$package" "$relation" "${found:-NOASSERTION}"
done | awk -F '|' -v version="$version" -v created="$created" -v commit="$commit" -v sum="$sum" '
    function id(name) {
        gsub(/[^A-Za-z0-9]+/, "-", name)
        return "SPDXRef-" name
    }
    BEGIN {
        words["contained"] = "CONTAINS"; words["headers"] = "STATIC_LINK"; words["linked"] = "DYNAMIC_LINK"
        words["building"] = "BUILD_DEPENDENCY_OF"
        printf "{\n  \"spdxVersion\": \"SPDX-2.3\",\n  \"dataLicense\": \"CC0-1.0\",\n  \"SPDXID\": \"SPDXRef-DOCUMENT\",\n"
        printf "  \"name\": \"ulplab-%s\",\n  \"documentNamespace\": \"urn:ulplab:%s:%s\",\n", version, version, commit
        printf "  \"creationInfo\": {\"created\": \"%s\", \"creators\": [\"Organization: the ulplab authors\"]},\n", created
        printf "  \"hasExtractedLicensingInfos\": [{\"licenseId\": \"LicenseRef-NVIDIA-CUDA\", \"name\": \"NVIDIA CUDA Toolkit EULA\", "
        printf "\"extractedText\": \"https://docs.nvidia.com/cuda/eula\"}, "
        printf "{\"licenseId\": \"LicenseRef-public-domain\", \"name\": \"public domain\", \"extractedText\": \"public domain\"}],\n"
        printf "  \"packages\": [\n    {\"SPDXID\": \"SPDXRef-ulplab\", \"name\": \"ulplab\", \"versionInfo\": \"%s\", ", version
        printf "\"packageFileName\": \"ulplab-%s.tar.gz\", \"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false, ", version
        printf "\"sourceInfo\": \"commit %s\", \"licenseConcluded\": \"MIT\", \"licenseDeclared\": \"MIT\", ", commit
        printf "\"copyrightText\": \"NOASSERTION\", \"checksums\": [{\"algorithm\": \"SHA256\", \"checksumValue\": \"%s\"}]}", sum
        relations = "    {\"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\", \"relatedSpdxElement\": \"SPDXRef-ulplab\"}"
    }
    {
        if (!($5 in words)) { print "parts.txt: relation " $5 > "/dev/stderr"; exit 1 }
        printf ",\n    {\"SPDXID\": \"%s\", \"name\": \"%s\", \"versionInfo\": \"%s\", \"downloadLocation\": \"NOASSERTION\", ", id($1), $1, $6
        printf "\"homepage\": \"%s\", \"filesAnalyzed\": false, \"licenseConcluded\": \"NOASSERTION\", \"licenseDeclared\": \"%s\", ", $3, $2
        printf "\"copyrightText\": \"NOASSERTION\""
        if ($4 != "-") printf ", \"externalRefs\": [{\"referenceCategory\": \"PACKAGE-MANAGER\", \"referenceType\": \"purl\", \"referenceLocator\": \"pkg:deb/debian/%s\"}]", $4
        printf "}"
        from = "SPDXRef-ulplab"; to = id($1)
        if ($5 == "building") { from = to; to = "SPDXRef-ulplab" }
        relations = relations ",\n    {\"spdxElementId\": \"" from "\", \"relationshipType\": \"" words[$5] "\", \"relatedSpdxElement\": \"" to "\"}"
    }
    END { printf "\n  ],\n  \"relationships\": [\n%s\n  ]\n}\n", relations }'
